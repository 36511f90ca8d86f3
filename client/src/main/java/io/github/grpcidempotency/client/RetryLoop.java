package io.github.grpcidempotency.client;

import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** The attempts of one call, one after the other. */
final class RetryLoop<RequestT, T> {
  private final KeyedCall<RequestT, T> call;
  private final Backoff backoff;
  private final AttemptChain<Reply<T>> chain = new AttemptChain<>();

  private int made;
  private boolean sentBefore;
  private boolean running;

  /** Creates a loop that is not started. */
  RetryLoop(KeyedCall<RequestT, T> call, Backoff backoff) {
    this.call = call;
    this.backoff = backoff;
    this.sentBefore = call.intent().mayHaveBeenSent();
  }

  /** Starts. */
  CompletableFuture<Reply<T>> start() {
    attempt();
    return chain.result();
  }

  /** Returns the failure if the loop ended now. */
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
      chain.result().complete(Reply.of(result.response().get(), result.trailers()));
      return;
    }
    Optional<Duration> wait = next(result);
    if (wait.isPresent()) {
      chain.after(wait.get(), this::attempt);
    } else {
      chain.result().completeExceptionally(lastFailure(result));
    }
  }

  /** Returns the wait before the next attempt; empty if there is none. */
  private synchronized Optional<Duration> next(AttemptResult<T> result) {
    running = false;
    Optional<Duration> wait =
        result.retryAfter(backoff, made).filter(delay -> !call.endsWithin(delay));
    if (wait.isPresent()) {
      sentBefore |= result.sent();
    }
    return wait;
  }

  private synchronized CallFailedException lastFailure(AttemptResult<T> result) {
    return new CallFailedException(
        result.status(), result.trailers(), call.intent(), result.outcome(sentBefore), made);
  }
}
