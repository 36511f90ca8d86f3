package io.github.grpcidempotency.client;

import com.google.longrunning.Operation;
import io.github.grpcidempotency.proto.WireNames;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/** The attempts of one call, one after the other. */
final class RetryLoop<RequestT, T> {
  /** The shortest time between two requests to a server that does not wait but answers at once. */
  private static final Duration POLL = Duration.ofSeconds(1);

  private final KeyedCall<RequestT, T> call;
  private final Backoff backoff;
  private final AttemptChain<Reply<T>> chain = new AttemptChain<>();

  private boolean waitsForOperations;
  private int made;
  private boolean sentBefore;
  private boolean running;

  /**
   * Creates a loop that is not started.
   *
   * @param waitsForOperations whether a refused attempt is repeated as soon as the operation in the
   *     refusal is done, rather than after a wait
   */
  RetryLoop(KeyedCall<RequestT, T> call, Backoff backoff, boolean waitsForOperations) {
    this.call = call;
    this.backoff = backoff;
    this.waitsForOperations = waitsForOperations;
    this.sentBefore = call.intent().mayHaveBeenSent();
  }

  CompletableFuture<Reply<T>> reply() {
    return chain.result();
  }

  /** Starts. */
  CompletableFuture<Reply<T>> start() {
    attempt();
    return reply();
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
      reply().complete(Reply.of(result.response().get(), result.trailers()));
      return;
    }
    Optional<UUID> inProgress = result.operationInProgress().filter(id -> waitsForOperations);
    Optional<Duration> wait = next(result, inProgress.isPresent());
    if (wait.isEmpty()) {
      fail(result);
    } else if (inProgress.isPresent()) {
      waitFor(inProgress.get(), result, System.nanoTime() + wait.get().toNanos());
    } else {
      chain.after(wait.get(), this::attempt);
    }
  }

  /**
   * Returns the time of the next attempt; empty if there is none.
   *
   * @param perhapsEarlier whether the attempt may be made earlier, and so before the deadline
   */
  private synchronized Optional<Duration> next(AttemptResult<T> result, boolean perhapsEarlier) {
    running = false;
    Optional<Duration> wait =
        result.retryAfter(backoff, made).filter(delay -> perhapsEarlier || !call.endsWithin(delay));
    if (wait.isPresent()) {
      sentBefore |= result.sent();
    }
    return wait;
  }

  /**
   * Lets the server wait until the operation is done or deleted. Then the call is sent again at
   * once. The call is also sent again at the time that the server requested, because the server
   * that runs the operation may have crashed, and after an error that may be a cut connection.
   */
  private void waitFor(UUID operationId, AttemptResult<T> refusal, long askAgain) {
    long begin = System.nanoTime();
    chain.run(
        () -> call.waitFor(operationId),
        result -> {
          Optional<Duration> delay =
              result.response().map(done -> Duration.ZERO).or(() -> result.retryAfter(backoff, 1));
          waitsForOperations = delay.isPresent() || result.mayBeCut();
          long now = System.nanoTime();
          Duration rest = Duration.ofNanos(Math.max(0, askAgain - now));
          Duration pause = delay.orElse(rest).plusNanos(Math.max(0, begin + POLL.toNanos() - now));
          if (hasEnded(result)) {
            repeatAfter(Duration.ZERO, refusal);
          } else if (result.mayBeCut()) {
            repeatAfter(backoff.delay(made), refusal);
          } else if (pause.compareTo(rest) < 0 && !call.endsWithin(pause)) {
            chain.after(pause, () -> waitFor(operationId, refusal, askAgain));
          } else {
            repeatAfter(rest, refusal);
          }
        });
  }

  private static boolean hasEnded(AttemptResult<Operation> result) {
    return result.response().filter(Operation::getDone).isPresent()
        || result.reason().equals(Optional.of(WireNames.OPERATION_UNKNOWN));
  }

  private void repeatAfter(Duration wait, AttemptResult<T> refusal) {
    if (call.endsWithin(wait)) {
      fail(refusal);
    } else {
      chain.after(wait, this::attempt);
    }
  }

  private void fail(AttemptResult<T> last) {
    reply().completeExceptionally(lastFailure(last));
  }

  private synchronized CallFailedException lastFailure(AttemptResult<T> result) {
    return new CallFailedException(
        result.status(), result.trailers(), call.intent(), result.outcome(sentBefore), made);
  }
}
