package io.github.grpcidempotency.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.github.grpcidempotency.background.DaemonThreads;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * The attempts of one call, one after the other. After the result is complete, no attempt is
 * started. If the result is cancelled, the running attempt is cancelled too.
 */
final class RetryLoop<RequestT, T> {
  private static final ScheduledExecutorService TIMER =
      DaemonThreads.newTimer("idempotency-retry-timer");

  private static final Duration GRACE = Duration.ofSeconds(1);

  private final RepeatedCall<RequestT, T> call;
  private final Backoff backoff;
  private final CompletableFuture<Reply<T>> result = new CompletableFuture<>();

  /** The context of the first attempt, in which the later attempts are made too. */
  private final Context context = Context.current();

  @GuardedBy("this")
  private int made;

  @GuardedBy("this")
  private boolean sentBefore;

  @GuardedBy("this")
  private Optional<Attempt<RequestT, T>> running = Optional.empty();

  /** Creates a loop that is not started. */
  RetryLoop(RepeatedCall<RequestT, T> call, Backoff backoff) {
    this.call = call;
    this.backoff = backoff;
    this.sentBefore = call.intent().mayHaveBeenSent();
    CompletableFuture<Reply<T>> unused =
        result.whenComplete((done, failure) -> cancelIfCancelled());
  }

  CompletableFuture<Reply<T>> start() {
    ScheduledFuture<?> end = later(this::giveUp, call.timeLeft().plus(GRACE));
    CompletableFuture<Reply<T>> unused = result.whenComplete((done, failure) -> end.cancel(false));
    attempt();
    return result;
  }

  /** Returns the failure if the loop ended now. */
  synchronized CallFailedException failure(Status status) {
    return new CallFailedException(
        status,
        new Metadata(),
        call.intent(),
        sentBefore || running.isPresent()
            ? CallFailedException.Outcome.UNKNOWN
            : CallFailedException.Outcome.NEVER_EXECUTED,
        made);
  }

  private void attempt() {
    Attempt<RequestT, T> attempt;
    synchronized (this) {
      if (result.isDone()) {
        return;
      }
      made++;
      try {
        attempt = context.call(call::send);
      } catch (Throwable defect) {
        fail(defect);
        return;
      }
      running = Optional.of(attempt);
    }
    CompletableFuture<Void> unused =
        attempt
            .result()
            .thenAccept(this::ended)
            .whenComplete(
                (done, defect) -> {
                  if (defect != null) {
                    fail(defect);
                  }
                });
  }

  private void fail(Throwable defect) {
    result.completeExceptionally(
        failure(Status.INTERNAL.withDescription("the call could not be sent").withCause(defect)));
  }

  /** Ends the call if gRPC has not ended its last attempt at the deadline. */
  private void giveUp() {
    result.completeExceptionally(
        failure(
            Status.DEADLINE_EXCEEDED.withDescription(
                "gRPC has not ended the call: the executor of the channel is busy")));
    synchronized (this) {
      running.ifPresent(Attempt::cancel);
    }
  }

  private static ScheduledFuture<?> later(Runnable step, Duration delay) {
    return TIMER.schedule(() -> onThread(step), delay.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Leaves the timer's thread, because the channel's interceptors may block. */
  private static void onThread(Runnable step) {
    try {
      DaemonThreads.pool().execute(step);
    } catch (Throwable noThread) {
      step.run();
    }
  }

  private void ended(AttemptResult<T> ended) {
    if (ended.response().isPresent()) {
      result.complete(Reply.of(ended.response().get(), ended.trailers()));
      return;
    }
    Optional<Duration> wait = next(ended);
    if (wait.isPresent()) {
      ScheduledFuture<?> unused = later(this::attempt, wait.get());
    } else {
      result.completeExceptionally(lastFailure(ended));
    }
  }

  /** Returns the wait before the next attempt; empty if there is none. */
  private synchronized Optional<Duration> next(AttemptResult<T> ended) {
    running = Optional.empty();
    Optional<Duration> wait =
        ended.retryAfter(backoff, made).filter(delay -> !call.endsWithin(delay));
    if (wait.isPresent()) {
      sentBefore |= ended.sent();
    }
    return wait;
  }

  private synchronized CallFailedException lastFailure(AttemptResult<T> ended) {
    return new CallFailedException(
        ended.status(), ended.trailers(), call.intent(), ended.outcome(sentBefore), made);
  }

  private synchronized void cancelIfCancelled() {
    if (result.isCancelled()) {
      running.ifPresent(Attempt::cancel);
    }
  }
}
