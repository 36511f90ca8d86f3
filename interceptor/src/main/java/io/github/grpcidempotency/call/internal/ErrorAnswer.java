package io.github.grpcidempotency.call.internal;

import com.google.protobuf.Message;
import com.google.rpc.Code;
import io.github.grpcidempotency.internal.decision.HandlerError;
import io.github.grpcidempotency.proto.v1.RecordedError;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.spi.RecordedOutcome;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * An error without details: the handler has thrown, or has violated the protocol.
 *
 * @param message the message to record
 * @param sending sends the error
 */
public record ErrorAnswer(Code code, String message, Runnable sending) implements Answer {
  @Override
  public Optional<Message> response() {
    return Optional.empty();
  }

  @Override
  public HandlerError error() {
    return new HandlerError(code, false);
  }

  @Override
  public RecordedOutcome recordOfError() {
    return new RecordedOutcome.Failure(
        RecordedError.newBuilder()
            .setCode(code.getNumber())
            .setMessage(message)
            .build()
            .toByteString());
  }

  @Override
  public void send(UUID operationId, Instant expires, Optional<IdempotencyStatus> status) {
    sending.run();
  }

  @Override
  public void sendUnrecorded() {
    sending.run();
  }
}
