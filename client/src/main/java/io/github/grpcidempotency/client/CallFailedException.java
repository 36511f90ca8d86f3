package io.github.grpcidempotency.client;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.Optional;
import java.util.UUID;

/**
 * A call has failed for good, or is given up; it carries the last attempt's status and trailers,
 * and says what is known of the call's effect. With the same {@link #intent} the call can be made
 * again later, for as long as the server remembers its key.
 */
public final class CallFailedException extends StatusRuntimeException {
  /** What is known of the effect of a call. */
  public enum Outcome {
    /**
     * No attempt has reached a handler: each was never sent, or refused ahead of it. It is safe to
     * do something else instead.
     */
    NEVER_EXECUTED,
    /**
     * The service itself has answered with this error, or has answered before and may not show its
     * answer. Another attempt tells nothing new, unless the cause is mended.
     */
    EXECUTED,
    /**
     * It may have been executed, or may still be running. Only another attempt with the same intent
     * can tell.
     */
    UNKNOWN
  }

  private final Intent intent;
  private final Outcome outcome;
  private final int attempts;

  CallFailedException(
      Status status, Metadata trailers, Intent intent, Outcome outcome, int attempts) {
    super(status, trailers);
    this.intent = intent;
    this.outcome = outcome;
    this.attempts = attempts;
  }

  /** Returns the same, with this thread's stack, and the other's as its cause. */
  CallFailedException here() {
    Metadata trailers = getTrailers() == null ? new Metadata() : getTrailers();
    return new CallFailedException(
        getStatus().withCause(this), trailers, intent, outcome, attempts);
  }

  /** Returns the call's intent, for another attempt later. */
  public Intent intent() {
    return intent;
  }

  /** Returns what is known of the call's effect. */
  public Outcome outcome() {
    return outcome;
  }

  /** Returns how often the call was sent, or tried to be; gRPC's own retries are not counted. */
  public int attempts() {
    return attempts;
  }

  /**
   * Returns the operation that runs under the call's key, if the last attempt was refused for it
   * and the server knows it: the name of a {@code google.longrunning.Operation}.
   */
  public Optional<UUID> operationId() {
    return Optional.ofNullable(getTrailers())
        .map(ErrorDetails::of)
        .flatMap(ErrorDetails::operationId);
  }

  /** Returns the status, the number of attempts, and what is known. */
  @Override
  public String getMessage() {
    String known =
        switch (outcome) {
          case NEVER_EXECUTED -> "never executed";
          case EXECUTED -> "answered by the service";
          case UNKNOWN -> "it is unknown whether it was executed";
        };
    return "%s (%d %s; %s)"
        .formatted(super.getMessage(), attempts, attempts == 1 ? "attempt" : "attempts", known);
  }
}
