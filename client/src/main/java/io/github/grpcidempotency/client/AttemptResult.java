package io.github.grpcidempotency.client;

import static io.github.grpcidempotency.proto.WireNames.ANSWER_TOO_LARGE;
import static io.github.grpcidempotency.proto.WireNames.CALLER_REQUIRED;
import static io.github.grpcidempotency.proto.WireNames.IN_PROGRESS;
import static io.github.grpcidempotency.proto.WireNames.KEY_INVALID;
import static io.github.grpcidempotency.proto.WireNames.KEY_PROHIBITED;
import static io.github.grpcidempotency.proto.WireNames.KEY_REQUIRED;
import static io.github.grpcidempotency.proto.WireNames.RECORD_UNREADABLE;
import static io.github.grpcidempotency.proto.WireNames.REPLAY_DENIED;
import static io.github.grpcidempotency.proto.WireNames.RESOURCE_GONE;

import io.github.grpcidempotency.client.CallFailedException.Outcome;
import io.github.grpcidempotency.proto.WireNames;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * How one attempt of a call has ended.
 *
 * @param response there if the status is OK, and only then
 * @param streams on how many connections the call may have been sent: none if it never left,
 *     several if gRPC itself has tried again
 */
record AttemptResult<T>(Status status, Metadata trailers, Optional<T> response, int streams) {
  private static final Metadata.Key<String> PUSHBACK =
      Metadata.Key.of(WireNames.PUSHBACK, Metadata.ASCII_STRING_MARSHALLER);

  private static final Metadata.Key<String> OPERATION =
      Metadata.Key.of(WireNames.OPERATION, Metadata.ASCII_STRING_MARSHALLER);

  /** What a server says may be of any size; longer than this, it is as good as never. */
  private static final Duration LONGEST_WAIT = Duration.ofDays(365);

  /** Refusals that are decided before anything is run, whatever stands in the server's store. */
  private static final Set<String> AHEAD_OF_HANDLER =
      Set.of(KEY_INVALID, KEY_REQUIRED, KEY_PROHIBITED, CALLER_REQUIRED);

  /** Refusals that tell of an answer on record. */
  private static final Set<String> ANSWERED_BEFORE =
      Set.of(REPLAY_DENIED, RECORD_UNREADABLE, ANSWER_TOO_LARGE, RESOURCE_GONE);

  /**
   * The service's own answers: what gRPC itself never answers (statuscodes.md of gRPC core) to a
   * call that was sent.
   */
  private static final Set<Status.Code> OF_THE_SERVICE =
      Set.of(
          Status.Code.INVALID_ARGUMENT,
          Status.Code.NOT_FOUND,
          Status.Code.ALREADY_EXISTS,
          Status.Code.FAILED_PRECONDITION,
          Status.Code.OUT_OF_RANGE,
          Status.Code.DATA_LOSS,
          Status.Code.PERMISSION_DENIED,
          Status.Code.UNAUTHENTICATED);

  /** What a connection that is cut may end with, but a fault of the service as well. */
  private static final Set<Status.Code> AMBIGUOUS =
      Set.of(Status.Code.CANCELLED, Status.Code.UNKNOWN, Status.Code.INTERNAL);

  /** What is worth another attempt although the server names no time for it. */
  private static final Set<Status.Code> RETRYABLE =
      Set.of(
          Status.Code.UNAVAILABLE,
          Status.Code.ABORTED,
          Status.Code.DEADLINE_EXCEEDED,
          Status.Code.RESOURCE_EXHAUSTED);

  /** Returns whether it may have left this process. */
  boolean sent() {
    return streams > 0;
  }

  /**
   * Returns what is known of the effect.
   *
   * @param sentBefore whether an earlier attempt of the same intent may have been sent
   */
  Outcome outcome(boolean sentBefore) {
    if (!sent()) {
      return sentBefore ? Outcome.UNKNOWN : Outcome.NEVER_EXECUTED;
    }
    boolean onlyOne = streams == 1 && !sentBefore;
    Optional<String> reason = reason();
    if (reason.isEmpty()) {
      return isOfTheService(onlyOne) ? Outcome.EXECUTED : Outcome.UNKNOWN;
    }
    if (ANSWERED_BEFORE.contains(reason.get())) {
      return Outcome.EXECUTED;
    }
    return onlyOne && AHEAD_OF_HANDLER.contains(reason.get())
        ? Outcome.NEVER_EXECUTED
        : Outcome.UNKNOWN;
  }

  /**
   * Returns whether the service itself sent the error as its answer. If an earlier attempt may have
   * been sent, only the library's trailer shows that nothing in front of the library, such as a
   * quota, has refused this one: the earlier attempt may have been carried out.
   */
  private boolean isOfTheService(boolean onlyOne) {
    return OF_THE_SERVICE.contains(status.getCode())
        && (onlyOne || trailers.containsKey(OPERATION));
  }

  /**
   * Returns when to try again: what the server says in {@code grpc-retry-pushback-ms} (gRFC A6), or
   * in {@code google.rpc.RetryInfo}, or else, if the code is worth it, what the backoff says; empty
   * for never.
   */
  Optional<Duration> retryAfter(Backoff backoff, int failures) {
    return retryAfter(backoff, failures, RETRYABLE.contains(status.getCode()));
  }

  /**
   * Returns the same for whoever must know what became of the call, whatever the code: empty only
   * if the server says never, or there is nothing more to know.
   */
  Optional<Duration> retryUntilKnown(Backoff backoff, int failures, boolean sentBefore) {
    boolean open = !sent() || outcome(sentBefore) == Outcome.UNKNOWN;
    return retryAfter(backoff, failures, open);
  }

  private Optional<Duration> retryAfter(Backoff backoff, int failures, boolean worthIt) {
    String pushback = trailers.get(PUSHBACK);
    Optional<Duration> wait =
        pushback != null
            ? millis(pushback).map(Duration::ofMillis)
            : ErrorDetails.of(trailers)
                .retryDelay()
                .or(() -> Optional.of(backoff.delay(failures)).filter(delay -> worthIt));
    return wait.map(delay -> delay.compareTo(LONGEST_WAIT) < 0 ? delay : LONGEST_WAIT);
  }

  /** Returns whether it may be the connection's fault, and may be the service's. */
  boolean mayBeCut() {
    return AMBIGUOUS.contains(status.getCode());
  }

  /** Returns why the library has refused it, if it has. */
  Optional<String> reason() {
    return ErrorDetails.of(trailers).reason();
  }

  /** Returns the operation that runs under the call's key, if that is why it was refused. */
  Optional<UUID> operationInProgress() {
    ErrorDetails details = ErrorDetails.of(trailers);
    return details.operationId().filter(id -> details.reason().equals(Optional.of(IN_PROGRESS)));
  }

  /** As gRFC A6 has it, what is no number means never, like a negative one. */
  private static Optional<Long> millis(String pushback) {
    try {
      return Optional.of(Long.parseLong(pushback)).filter(millis -> millis >= 0);
    } catch (NumberFormatException malformed) {
      return Optional.empty();
    }
  }
}
