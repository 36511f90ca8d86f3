package io.github.grpcidempotency.client;

import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** The attempts of one call, one after the other. */
final class RetryLoop<RequestT, T> {
  private final Intent intent;
  private final Deadline deadline;
  private final Duration attemptTimeout;
  private final int maxAttempts;
  private final Backoff backoff;
  private final Function<Deadline, Attempt<RequestT, T>> attempts;
  private final CompletableFuture<Reply<T>> reply = new CompletableFuture<>();

  /** The attempts that come later are made for whoever makes the first. */
  private final Context context = Context.current();

  private int made;
  private boolean sentBefore;
  private Optional<Attempt<RequestT, T>> running = Optional.empty();

  RetryLoop(
      Intent intent,
      Deadline deadline,
      Duration attemptTimeout,
      int maxAttempts,
      Backoff backoff,
      Function<Deadline, Attempt<RequestT, T>> attempts) {
    this.intent = intent;
    this.deadline = deadline;
    this.attemptTimeout = attemptTimeout;
    this.maxAttempts = maxAttempts;
    this.backoff = backoff;
    this.attempts = attempts;
  }

  CompletableFuture<Reply<T>> reply() {
    return reply;
  }

  void start() {
    CompletableFuture<Reply<T>> unused = reply.whenComplete((done, failure) -> cancelIfCancelled());
    context.run(this::attempt);
  }

  /** Returns the failure that this would be if it ended now. */
  synchronized CallFailedException failure(Status status, Metadata trailers) {
    boolean maybeSent = sentBefore || running.isPresent();
    return new CallFailedException(
        status,
        trailers,
        intent,
        maybeSent
            ? CallFailedException.Outcome.UNKNOWN
            : CallFailedException.Outcome.NEVER_EXECUTED,
        made);
  }

  private void attempt() {
    Attempt<RequestT, T> attempt;
    synchronized (this) {
      if (reply.isDone()) {
        return;
      }
      made++;
      attempt =
          attempts.apply(
              deadline.minimum(Deadline.after(attemptTimeout.toNanos(), TimeUnit.NANOSECONDS)));
      running = Optional.of(attempt);
    }
    CompletableFuture<Void> unused = attempt.result().thenAccept(this::ended);
  }

  private void ended(AttemptResult<T> result) {
    if (result.response().isPresent()) {
      reply.complete(Reply.of(result.response().get(), result.trailers()));
      return;
    }
    Optional<Duration> wait = next(result);
    if (wait.isEmpty()) {
      reply.completeExceptionally(lastFailure(result));
      return;
    }
    CompletableFuture.delayedExecutor(wait.get().toNanos(), TimeUnit.NANOSECONDS)
        .execute(context.wrap(this::attempt));
  }

  /** Returns when the next attempt is to be made; empty if there is none. */
  private synchronized Optional<Duration> next(AttemptResult<T> result) {
    running = Optional.empty();
    Optional<Duration> wait =
        result
            .retryAfter(backoff, made)
            .filter(delay -> made < maxAttempts)
            .filter(delay -> delay.toMillis() < deadline.timeRemaining(TimeUnit.MILLISECONDS));
    if (wait.isPresent()) {
      sentBefore |= result.sent();
    }
    return wait;
  }

  private synchronized CallFailedException lastFailure(AttemptResult<T> result) {
    return new CallFailedException(
        result.status(), result.trailers(), intent, result.outcome(sentBefore), made);
  }

  private synchronized void cancelIfCancelled() {
    if (reply.isCancelled()) {
      running.ifPresent(Attempt::cancel);
    }
  }
}
