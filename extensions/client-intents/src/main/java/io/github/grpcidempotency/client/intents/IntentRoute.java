package io.github.grpcidempotency.client.intents;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.client.AttemptResult;
import io.github.grpcidempotency.client.Backoff;
import io.github.grpcidempotency.client.CallFailedException;
import io.github.grpcidempotency.client.CallFailedException.Outcome;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.client.RetryingCaller;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.AbstractStub;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Processes the intents of one method of one server, one step at a time. */
record IntentRoute<RequestT, T>(
    MethodDescriptor<RequestT, T> method, AbstractStub<?> stub, IntentCallback<T> callback) {
  private static final Logger logger = LoggerFactory.getLogger(IntentWorker.class);
  static final Backoff BACKOFF = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(5));

  /** After each multiple of this number of attempts, the log line is a warning. */
  private static final int MANY_ATTEMPTS = 10;

  /** The limits that all intents of a worker share. */
  record Limits(Duration lease, Duration attemptTimeout, Duration giveUpAfter) {
    /**
     * Returns how long an intent may still be sent; zero or negative if it may not be sent any
     * more.
     */
    Duration left(StoredIntent intent) {
      return giveUpAfter.minus(intent.age());
    }
  }

  /**
   * Processes an intent:
   *
   * <ol>
   *   <li>Send it, unless its answer has already been stored.
   *   <li>Store the answer, so that the server is not called again.
   *   <li>Pass the answer to the callback.
   *   <li>Delete the intent.
   * </ol>
   *
   * After a crash between two steps, the first of them is repeated.
   *
   * @throws Exception if a step fails, for example because the callback throws; then the intent has
   *     to be given back, and an interrupt means that its attempt has been cancelled
   */
  void advance(StoredIntent taken, IntentStore store, Limits limits) throws Exception {
    Optional<StoredAnswer> answer =
        taken.answer().isPresent()
            ? taken.answer().map(StoredAnswer::parse)
            : send(taken, store, limits);
    if (answer.isPresent()) {
      handOn(taken, answer.get());
      store.done(taken);
    }
  }

  private Optional<StoredAnswer> send(StoredIntent taken, IntentStore store, Limits limits)
      throws InterruptedException {
    Optional<StoredAnswer> answer =
        limits.left(taken).toMillis() > 0
            ? attempt(taken, store, limits)
            : Optional.of(givenUp(taken));
    return answer.filter(kept -> store.answered(taken, kept.toBytes(), limits.lease()));
  }

  private Optional<StoredAnswer> attempt(StoredIntent taken, IntentStore store, Limits limits)
      throws InterruptedException {
    AttemptResult<T> result = await(taken, limits);
    if (result.response().isPresent()) {
      return Optional.of(
          StoredAnswer.of(
              result.status(),
              Outcome.EXECUTED,
              Optional.of(bytes(result.response().get())),
              result.trailers()));
    }
    Optional<Duration> wait =
        result
            .retryUntilKnown(BACKOFF, taken.attempts(), taken.sentBefore())
            .map(delay -> shorter(delay, limits.left(taken)));
    if (wait.isPresent()) {
      logger
          .atLevel(taken.attempts() % MANY_ATTEMPTS == 0 ? Level.WARN : Level.DEBUG)
          .log(
              "{}: attempt {} failed with {}; trying again in {}",
              method.getFullMethodName(),
              taken.attempts(),
              result.status().getCode(),
              wait.get());
      store.postpone(taken, wait.get(), !taken.sentBefore() && !result.sent());
      return Optional.empty();
    }
    return Optional.of(
        StoredAnswer.of(
            result.status(),
            result.outcome(taken.sentBefore()),
            Optional.empty(),
            result.trailers()));
  }

  private AttemptResult<T> await(StoredIntent taken, Limits limits) throws InterruptedException {
    Duration timeout = shorter(limits.attemptTimeout(), limits.left(taken));
    return RetryingCaller.builder()
        .within(timeout)
        .attemptTimeout(timeout)
        .build()
        .attempt(
            stub.withDeadline(null).withOption(Intent.OPTION, taken.intent()),
            method,
            method.parseRequest(taken.request().newInput()));
  }

  private void handOn(StoredIntent taken, StoredAnswer answer) throws Exception {
    if (answer.response().isPresent()) {
      T response = method.parseResponse(answer.response().get().newInput());
      callback.answered(taken.intent(), Reply.of(response, answer.metadata()));
    } else {
      callback.failed(taken.intent(), failure(taken, answer));
    }
  }

  private static CallFailedException failure(StoredIntent taken, StoredAnswer answer) {
    return new CallFailedException(
        answer.status(), answer.metadata(), taken.intent(), answer.outcome(), taken.attempts());
  }

  private static StoredAnswer givenUp(StoredIntent taken) {
    return StoredAnswer.of(
        Status.DEADLINE_EXCEEDED.withDescription(
            taken.sentBefore()
                ? "gave up: the age of the intent has reached giveUpAfter, and the record of the"
                    + " key may have expired"
                : "gave up: the age of the intent has reached giveUpAfter, and the server could"
                    + " never be reached"),
        taken.sentBefore() ? Outcome.UNKNOWN : Outcome.NEVER_EXECUTED,
        Optional.empty(),
        new Metadata());
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  private ByteString bytes(T response) {
    try (InputStream bytes = method.streamResponse(response)) {
      return ByteString.readFrom(bytes);
    } catch (IOException impossible) {
      throw new IllegalStateException("the response cannot be serialized", impossible);
    }
  }
}
