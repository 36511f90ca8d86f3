package io.github.grpcidempotency.call.internal;

import com.google.protobuf.Message;
import io.github.grpcidempotency.internal.decision.HandlerError;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.spi.RecordedOutcome;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/** The answer of a handler, which its transport sends after the run is settled. */
public interface Answer {
  /** Returns the response; empty if the answer is an error. */
  Optional<Message> response();

  /**
   * Returns the error. Called once, before the run is settled, in the handler's context and while
   * the handler's transaction is still open.
   */
  HandlerError error();

  /** Returns the record of the error. Called after {@link #error}. */
  RecordedOutcome recordOfError();

  /**
   * Sends the response, or the error, of a call with a key.
   *
   * @param status the status of the asynchronous work behind the response
   */
  void send(UUID operationId, Instant expires, Optional<IdempotencyStatus> status);

  /** Sends the response, or the error, of a call without a key. */
  void sendUnrecorded();
}
