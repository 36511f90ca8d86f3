package io.github.grpcidempotency.client;

import static io.github.grpcidempotency.proto.WireNames.ANSWER_TOO_LARGE;
import static io.github.grpcidempotency.proto.WireNames.CALLER_REQUIRED;
import static io.github.grpcidempotency.proto.WireNames.KEY_INVALID;
import static io.github.grpcidempotency.proto.WireNames.KEY_PROHIBITED;
import static io.github.grpcidempotency.proto.WireNames.KEY_REQUIRED;
import static io.github.grpcidempotency.proto.WireNames.RECORD_UNREADABLE;
import static io.github.grpcidempotency.proto.WireNames.REPLAY_DENIED;
import static io.github.grpcidempotency.proto.WireNames.RESOURCE_GONE;

import io.github.grpcidempotency.client.CallFailedException.Outcome;
import io.github.grpcidempotency.proto.Experimental;
import io.github.grpcidempotency.proto.WireNames;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * The result of one attempt of a call, which {@link RetryingCaller#attempt} returns. Immutable.
 *
 * @param <T> the method's response type
 */
@Experimental
public final class AttemptResult<T> {
  private static final Metadata.Key<String> PUSHBACK =
      Metadata.Key.of(WireNames.PUSHBACK, Metadata.ASCII_STRING_MARSHALLER);

  private static final Metadata.Key<String> OPERATION =
      Metadata.Key.of(WireNames.OPERATION, Metadata.ASCII_STRING_MARSHALLER);

  /** A server can request a wait of any length. A longer wait than this is treated as never. */
  private static final Duration LONGEST_WAIT = Duration.ofDays(365);

  /**
   * Refusals that are decided before the handler, independent of the records in the server's store.
   */
  private static final Set<String> AHEAD_OF_HANDLER =
      Set.of(KEY_INVALID, KEY_REQUIRED, KEY_PROHIBITED, CALLER_REQUIRED);

  /** Refusals that show that an answer is recorded. */
  private static final Set<String> ANSWERED_BEFORE =
      Set.of(REPLAY_DENIED, RECORD_UNREADABLE, ANSWER_TOO_LARGE, RESOURCE_GONE);

  /**
   * The codes that only the service sends: for a call that was sent, gRPC itself never generates
   * them (statuscodes.md of gRPC core).
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

  /** The codes that are retried even if the server sends no time for a retry. */
  private static final Set<Status.Code> RETRYABLE =
      Set.of(
          Status.Code.UNAVAILABLE,
          Status.Code.ABORTED,
          Status.Code.DEADLINE_EXCEEDED,
          Status.Code.RESOURCE_EXHAUSTED);

  private final Status status;
  private final Metadata trailers;
  private final Optional<T> response;
  private final int streams;

  /**
   * Creates a result.
   *
   * @param streams on how many connections the call may have been sent: 0 if it never left this
   *     process, more than 1 if gRPC itself has retried
   */
  AttemptResult(Status status, Metadata trailers, Optional<T> response, int streams) {
    this.status = status;
    this.trailers = trailers;
    this.response = response;
    this.streams = streams;
  }

  /** Returns the status of the call. */
  public Status status() {
    return status;
  }

  /** Returns the trailers of the call. */
  public Metadata trailers() {
    return trailers;
  }

  /** Returns the response; present only if the status is OK. */
  public Optional<T> response() {
    return response;
  }

  /** Returns whether the call may have left this process. */
  public boolean sent() {
    return streams > 0;
  }

  /**
   * Returns what is known about the effect.
   *
   * @param sentBefore whether an earlier attempt of the same intent may have been sent
   */
  public Outcome outcome(boolean sentBefore) {
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
   * been sent, only the library's trailer proves this. Without it, another interceptor of the
   * server, such as a quota, may have refused this attempt, although the earlier attempt was
   * executed.
   */
  private boolean isOfTheService(boolean onlyOne) {
    return OF_THE_SERVICE.contains(status.getCode())
        && (onlyOne || trailers.containsKey(OPERATION))
        && !isOfHttp();
  }

  /**
   * Returns whether gRPC has made the status from an HTTP status, because the answer has no {@code
   * grpc-status}. Such an answer comes from a proxy. For an answer of another content type, gRPC
   * keeps the HTTP status as a trailer; otherwise only its description shows the reason.
   */
  private boolean isOfHttp() {
    return trailers.keys().contains(":status")
        || Optional.ofNullable(status.getDescription())
            .filter(text -> text.contains("missing GRPC status, inferred error from HTTP status"))
            .isPresent();
  }

  /**
   * Returns when to retry: the value of {@code grpc-retry-pushback-ms} (gRFC A6), or of {@code
   * google.rpc.RetryInfo}, or else, for a retryable code, the backoff; empty for never.
   */
  Optional<Duration> retryAfter(Backoff backoff, int failures) {
    return retryAfter(backoff, failures, RETRYABLE.contains(status.getCode()));
  }

  /**
   * Returns when to retry until the outcome of the call is known, for every code: empty only if the
   * server prohibits a retry, or the outcome is known.
   *
   * @param backoff the waits if the server sends no time
   * @param failures the number of failed attempts so far, at least 1
   * @param sentBefore whether an earlier attempt of the same intent may have been sent
   */
  public Optional<Duration> retryUntilKnown(Backoff backoff, int failures, boolean sentBefore) {
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

  /** Returns the reason of the library's refusal, if the library refused the call. */
  Optional<String> reason() {
    return ErrorDetails.of(trailers).reason();
  }

  /**
   * Parses a pushback. According to gRFC A6, a text that is not a number means never, like a
   * negative number.
   */
  private static Optional<Long> millis(String pushback) {
    try {
      return Optional.of(Long.parseLong(pushback)).filter(millis -> millis >= 0);
    } catch (NumberFormatException malformed) {
      return Optional.empty();
    }
  }
}
