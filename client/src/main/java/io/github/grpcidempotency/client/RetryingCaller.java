package io.github.grpcidempotency.client;

import io.github.grpcidempotency.proto.Experimental;
import io.grpc.CallOptions;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.AbstractStub;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * Calls a unary method until there is an answer, for longer and more often than gRPC's built-in
 * retries (gRFC A6: five attempts at most, within one deadline).
 *
 * <ol>
 *   <li>Every attempt has the same key: that of the stub's {@link Intent}, or of a new intent. The
 *       channel need not have an {@link IdempotencyClientInterceptor}; the key is put into the same
 *       place.
 *   <li>A failed attempt is repeated at the time that the server sends in {@code
 *       grpc-retry-pushback-ms} or {@code google.rpc.RetryInfo}, or not at all if the server
 *       prohibits it. If the server sends no time, {@code UNAVAILABLE}, {@code ABORTED}, {@code
 *       RESOURCE_EXHAUSTED} and an attempt that timed out are repeated after a wait that doubles,
 *       with jitter.
 *   <li>One deadline applies to all attempts: the earliest of the stub's deadline, the gRPC
 *       context's deadline and {@link Builder#within}. A wait that would exceed the deadline is not
 *       started.
 *   <li>If there is no answer by then, a {@link CallFailedException} is thrown, which contains what
 *       is known about the effect.
 * </ol>
 *
 * <p>Use it only for methods that are idempotent on their server. A call without a key is refused;
 * for a method without the option, the client cannot check more. Keep {@link Builder#within} well
 * below the server's retention (24 hours by default), after which the server runs the call as a new
 * call.
 *
 * <p>Immutable and thread-safe. Attempts after the first start on daemon threads of the library,
 * which all callers share and which end after a minute without work.
 */
public final class RetryingCaller {
  /** How long after its deadline an attempt is awaited: gRPC ends it on a thread of the channel. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  private final Duration within;
  private final Duration attemptTimeout;
  private final Backoff backoff;

  private RetryingCaller(Builder builder) {
    this.within = builder.within;
    this.attemptTimeout = builder.attemptTimeout;
    this.backoff = builder.backoff;
  }

  /** Returns a builder. Every setting has a default. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Calls the method and waits for the answer. An interrupt ends the wait as in a blocking stub:
   * with {@code CANCELLED}, and with the thread's interrupt flag set.
   *
   * @param stub a stub of any kind; its channel and its call options are used
   * @throws CallFailedException if there is no answer
   * @throws IllegalArgumentException if the method is not unary, or the call would carry no key
   */
  public <RequestT, T> Reply<T> call(
      AbstractStub<?> stub, MethodDescriptor<RequestT, T> method, RequestT request) {
    RetryLoop<RequestT, T> loop = new RetryLoop<>(keyed(stub, method, request), backoff);
    CompletableFuture<Reply<T>> reply = loop.start();
    try {
      return reply.get();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      CallFailedException failure =
          loop.failure(Status.CANCELLED.withDescription("interrupted").withCause(interrupt));
      reply.cancel(true);
      throw failure;
    } catch (ExecutionException failure) {
      if (failure.getCause() instanceof CallFailedException failed) {
        throw failed.here();
      }
      throw new IllegalStateException(failure);
    }
  }

  /**
   * Calls the method without waiting. The result fails with a {@link CallFailedException} if there
   * is no answer. Cancelling the result cancels the running attempt, and no other attempt is made.
   * Actions that depend on the result run on the channel's executor.
   *
   * @throws IllegalArgumentException if the method is not unary, or the call would carry no key
   */
  public <RequestT, T> CompletableFuture<Reply<T>> callAsync(
      AbstractStub<?> stub, MethodDescriptor<RequestT, T> method, RequestT request) {
    return new RetryLoop<>(keyed(stub, method, request), backoff).start();
  }

  /**
   * Makes a single attempt and waits for its end, for code that has retries of its own. If the
   * thread is interrupted, the attempt is cancelled.
   *
   * @return the result, whether or not there is a response
   * @throws IllegalArgumentException if the method is not unary, or the call would carry no key
   * @throws IllegalStateException if gRPC has not ended the attempt ten seconds after its deadline
   */
  @Experimental
  public <RequestT, T> AttemptResult<T> attempt(
      AbstractStub<?> stub, MethodDescriptor<RequestT, T> method, RequestT request)
      throws InterruptedException {
    RepeatedCall<RequestT, T> call = keyed(stub, method, request);
    Attempt<RequestT, T> attempt = call.send();
    try {
      return attempt.result().get(call.timeLeft().plus(GRACE).toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException | TimeoutException lost) {
      throw new IllegalStateException("gRPC has not ended the attempt at its deadline", lost);
    } finally {
      attempt.cancel();
    }
  }

  private <RequestT, T> RepeatedCall<RequestT, T> keyed(
      AbstractStub<?> stub, MethodDescriptor<RequestT, T> method, RequestT request) {
    CallOptions options = stub.getCallOptions();
    Optional<Intent> chosen = Optional.ofNullable(options.getOption(Intent.OPTION));
    Intent intent = chosen.orElseGet(Intent::create);
    KeyPlan.requireKey(method, request, intent, chosen.isPresent());
    Deadline deadline =
        Stream.of(
                Optional.of(Deadline.after(within.toNanos(), TimeUnit.NANOSECONDS)),
                Optional.ofNullable(options.getDeadline()),
                Optional.ofNullable(Context.current().getDeadline()))
            .flatMap(Optional::stream)
            .reduce(Deadline::minimum)
            .orElseThrow();
    return new RepeatedCall<>(
        stub.getChannel(), method, options, request, intent, deadline, attemptTimeout);
  }

  /** The settings of a caller. */
  public static final class Builder {
    private Duration within = Duration.ofMinutes(1);
    private Duration attemptTimeout = Duration.ofSeconds(10);
    private Backoff backoff = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(30));

    private Builder() {}

    /** Sets the time for all attempts and the waits between them; one minute by default. */
    public Builder within(Duration within) {
      this.within = positive(within);
      return this;
    }

    /** Sets the deadline of one attempt; 10 seconds by default. */
    public Builder attemptTimeout(Duration timeout) {
      this.attemptTimeout = positive(timeout);
      return this;
    }

    /**
     * Sets the waits that are used if the server sends none. Each wait is twice the previous one,
     * and half of it is random. From 100 milliseconds to 30 seconds by default.
     */
    public Builder backoff(Duration first, Duration longest) {
      this.backoff = new Backoff(first, longest);
      return this;
    }

    /** Returns the caller. */
    public RetryingCaller build() {
      return new RetryingCaller(this);
    }

    private static Duration positive(Duration duration) {
      if (duration.isNegative() || duration.isZero()) {
        throw new IllegalArgumentException("a duration must be positive, not " + duration);
      }
      return duration;
    }
  }
}
