package io.github.grpcidempotency.client;

import io.grpc.Context;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The attempts for one result, one after the other. After the result is complete, no attempt is
 * started. If the result is cancelled, the running attempt is cancelled too.
 */
final class AttemptChain<R> {
  private final CompletableFuture<R> result = new CompletableFuture<>();

  /** The context of the first attempt, in which the later attempts are made too. */
  private final Context context = Context.current();

  private Optional<Attempt<?, ?>> running = Optional.empty();

  AttemptChain() {
    CompletableFuture<R> unused = result.whenComplete((done, failure) -> cancelIfCancelled());
  }

  CompletableFuture<R> result() {
    return result;
  }

  /** Returns whether the context of the attempts is cancelled, so that none can succeed. */
  boolean isCancelled() {
    return context.isCancelled();
  }

  /** Starts an attempt, and passes its result to the next step. */
  <Q, A> void run(Supplier<Attempt<Q, A>> start, Consumer<AttemptResult<A>> next) {
    Attempt<Q, A> attempt;
    synchronized (this) {
      if (result.isDone()) {
        return;
      }
      try {
        attempt = inContext(start);
      } catch (RuntimeException defect) {
        result.completeExceptionally(defect);
        return;
      }
      running = Optional.of(attempt);
    }
    CompletableFuture<Void> unused =
        attempt
            .result()
            .thenAccept(next)
            .whenComplete(
                (done, defect) -> {
                  if (defect != null) {
                    result.completeExceptionally(defect);
                  }
                });
  }

  private <A> A inContext(Supplier<A> start) {
    Context previous = context.attach();
    try {
      return start.get();
    } finally {
      context.detach(previous);
    }
  }

  /** Runs the next step after a wait. */
  void after(Duration wait, Runnable next) {
    CompletableFuture.delayedExecutor(wait.toNanos(), TimeUnit.NANOSECONDS).execute(next);
  }

  private synchronized void cancelIfCancelled() {
    if (result.isCancelled()) {
      running.ifPresent(Attempt::cancel);
    }
  }
}
