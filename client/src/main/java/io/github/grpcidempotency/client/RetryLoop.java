package io.github.grpcidempotency.client;

import com.google.longrunning.Operation;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/** The attempts of one call, one after the other. */
final class RetryLoop<RequestT, T> {
  private final KeyedCall<RequestT, T> call;
  private final int maxAttempts;
  private final Backoff backoff;
  private final AttemptChain<Reply<T>> chain = new AttemptChain<>();

  private boolean waitsForOperations;
  private int made;
  private boolean sentBefore;
  private boolean running;

  /**
   * Makes a loop that is not begun.
   *
   * @param waitsForOperations whether a refused attempt is repeated when the operation that it
   *     names is done, rather than after a while
   */
  RetryLoop(
      KeyedCall<RequestT, T> call, int maxAttempts, Backoff backoff, boolean waitsForOperations) {
    this.call = call;
    this.maxAttempts = maxAttempts;
    this.backoff = backoff;
    this.waitsForOperations = waitsForOperations;
  }

  CompletableFuture<Reply<T>> reply() {
    return chain.result();
  }

  /** Begins. */
  CompletableFuture<Reply<T>> start() {
    attempt();
    return reply();
  }

  /** Returns the failure that this would be if it ended now. */
  synchronized CallFailedException failure(Status status) {
    return new CallFailedException(
        status,
        new Metadata(),
        call.intent(),
        sentBefore || running
            ? CallFailedException.Outcome.UNKNOWN
            : CallFailedException.Outcome.NEVER_EXECUTED,
        made);
  }

  private void attempt() {
    chain.run(this::send, this::ended);
  }

  private synchronized Attempt<RequestT, T> send() {
    made++;
    running = true;
    return call.send();
  }

  private void ended(AttemptResult<T> result) {
    if (result.response().isPresent()) {
      reply().complete(Reply.of(result.response().get(), result.trailers()));
      return;
    }
    Optional<Duration> wait = next(result);
    if (wait.isEmpty()) {
      reply().completeExceptionally(lastFailure(result));
      return;
    }
    Optional<UUID> inProgress = result.operationInProgress().filter(id -> waitsForOperations);
    if (inProgress.isPresent()) {
      waitFor(inProgress.get(), wait.get());
    } else {
      chain.after(wait.get(), this::attempt);
    }
  }

  /** Returns when the next attempt is to be made; empty if there is none. */
  private synchronized Optional<Duration> next(AttemptResult<T> result) {
    running = false;
    Optional<Duration> wait =
        result
            .retryAfter(backoff, made)
            .filter(delay -> made < maxAttempts)
            .filter(delay -> !call.endsWithin(delay));
    if (wait.isPresent()) {
      sentBefore |= result.sent();
    }
    return wait;
  }

  /** Waits on the server; for as long as it said, if it cannot. */
  private void waitFor(UUID operationId, Duration wait) {
    long begin = System.nanoTime();
    chain.run(
        () -> call.waitFor(operationId),
        result -> {
          waitsForOperations = result.response().isPresent();
          boolean done = result.response().filter(Operation::getDone).isPresent();
          Duration waited = Duration.ofNanos(System.nanoTime() - begin);
          chain.after(
              done || waited.compareTo(wait) > 0 ? Duration.ZERO : wait.minus(waited),
              this::attempt);
        });
  }

  private synchronized CallFailedException lastFailure(AttemptResult<T> result) {
    return new CallFailedException(
        result.status(), result.trailers(), call.intent(), result.outcome(sentBefore), made);
  }
}
