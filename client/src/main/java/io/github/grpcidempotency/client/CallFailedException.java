package io.github.grpcidempotency.client;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.Optional;
import java.util.UUID;

/**
 * A call failed permanently, or was given up. The exception has the status and the trailers of the
 * last attempt, and contains what is known about the call's effect. The call can be repeated later
 * with the same {@link #intent}, until the server's record of its key expires.
 */
public final class CallFailedException extends StatusRuntimeException {
  /** What is known about the effect of a call. */
  public enum Outcome {
    /**
     * No attempt has reached a handler: none was sent, or each was refused before the handler. It
     * is safe to do something else instead.
     */
    NEVER_EXECUTED,
    /**
     * The service itself answered with this error, or it answered before and the server refuses to
     * send that answer. Another attempt has the same result, unless the cause is fixed.
     */
    EXECUTED,
    /**
     * The call may have been executed, or may still be running. Only another attempt with the same
     * intent can show that.
     */
    UNKNOWN
  }

  private final Intent intent;
  private final Outcome outcome;
  private final int attempts;

  /** Creates an exception, for code that has retries of its own, and for tests. */
  public CallFailedException(
      Status status, Metadata trailers, Intent intent, Outcome outcome, int attempts) {
    super(status, trailers);
    this.intent = intent;
    this.outcome = outcome;
    this.attempts = attempts;
  }

  /** Returns the same exception with the stack of this thread, and this exception as its cause. */
  CallFailedException here() {
    Metadata trailers = getTrailers() == null ? new Metadata() : getTrailers();
    return new CallFailedException(
        getStatus().withCause(this), trailers, intent, outcome, attempts);
  }

  /** Returns the call's intent, for another attempt later. */
  public Intent intent() {
    return intent;
  }

  /** Returns what is known about the call's effect. */
  public Outcome outcome() {
    return outcome;
  }

  /** Returns the number of attempts. gRPC's built-in retries are not counted. */
  public int attempts() {
    return attempts;
  }

  /**
   * Returns the running operation with the call's key, if the last attempt was refused because of
   * it and the server sent its id: the name of a {@code google.longrunning.Operation}.
   */
  public Optional<UUID> operationId() {
    return Optional.ofNullable(getTrailers())
        .map(ErrorDetails::of)
        .flatMap(ErrorDetails::operationId);
  }

  /** Returns the status, the number of attempts, and what is known about the effect. */
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
