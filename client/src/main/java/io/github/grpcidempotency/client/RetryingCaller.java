package io.github.grpcidempotency.client;

import io.grpc.CallOptions;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.AbstractStub;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Calls a unary method until it has an answer, for longer and more often than gRPC's own retries do
 * (gRFC A6: five attempts at most, within one deadline).
 *
 * <ol>
 *   <li>Every attempt has the same key: that of the stub's {@link Intent}, or of a new one. It goes
 *       where {@link IdempotencyClientInterceptor} puts it, which need not be on the channel.
 *   <li>A failed attempt is repeated when the server says, in {@code grpc-retry-pushback-ms} or
 *       {@code google.rpc.RetryInfo}; never, if it says never. If it says nothing, {@code
 *       UNAVAILABLE}, {@code ABORTED}, {@code RESOURCE_EXHAUSTED} and an attempt that took too long
 *       are repeated after a wait that doubles, with jitter.
 *   <li>One deadline is over all of it: the earliest of the stub's, the gRPC context's and {@link
 *       Builder#within}. A wait that would outlast it is not begun.
 *   <li>What has no answer then is a {@link CallFailedException}, which says what is known.
 *   <li>If asked to, it waits for the asynchronous work behind the answer, within the same
 *       deadline.
 * </ol>
 *
 * <p>Only for methods that are idempotent on their server: nothing here can know of those without
 * an option. Keep {@link Builder#within} well below the server's retention (24 hours by default),
 * after which a key runs as new.
 *
 * <p>Immutable and thread-safe; has no threads of its own.
 */
public final class RetryingCaller {
  private final Duration within;
  private final Duration attemptTimeout;
  private final Backoff backoff;
  private final IdempotencyClientInterceptor keys;

  private RetryingCaller(Builder builder) {
    this.within = builder.within;
    this.attemptTimeout = builder.attemptTimeout;
    this.backoff = builder.backoff;
    this.keys = builder.keys;
  }

  /** Begins the settings of one; each has a default. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Calls, and waits for the answer. An interrupt ends it as it ends a blocking stub's call: with
   * {@code CANCELLED}, and the thread's flag set.
   *
   * @param stub of any kind: its channel and call options are used
   * @throws CallFailedException if there is none
   * @throws IllegalArgumentException if the method is not unary, or prohibits keys
   */
  public <RequestT, T> Reply<T> call(
      AbstractStub<?> stub, MethodDescriptor<RequestT, T> method, RequestT request) {
    RetryLoop<RequestT, T> loop = retries(keyed(stub, method, request), false);
    return get(loop.start(), loop::failure);
  }

  /**
   * Calls without waiting. The result fails with a {@link CallFailedException} if there is no
   * answer; cancelling it cancels the attempt that is running, and there is no other. What depends
   * on it runs on the channel's executor.
   *
   * @throws IllegalArgumentException if the method is not unary, or prohibits keys
   */
  public <RequestT, T> CompletableFuture<Reply<T>> callAsync(
      AbstractStub<?> stub, MethodDescriptor<RequestT, T> method, RequestT request) {
    return retries(keyed(stub, method, request), false).start();
  }

  /**
   * Calls, and waits for the answer and until the asynchronous work behind it has ended. See {@link
   * #awaitAsync} for how it waits, and for what the reply says. The one deadline is over all of it.
   * If the call still runs for an earlier attempt, and the refusal names its operation, the server
   * waits for that, too, and the call is sent again as soon as the operation is done or gone.
   *
   * @param stub of any kind: its channel and call options are used
   * @throws CallFailedException if there is no answer
   * @throws AwaitFailedException if there is one, and the work behind it could not be waited for
   * @throws IllegalArgumentException if the method is not unary, or prohibits keys
   */
  public <RequestT, T> Reply<T> callAndAwait(
      AbstractStub<?> stub, MethodDescriptor<RequestT, T> method, RequestT request) {
    KeyedCall<RequestT, T> call = keyed(stub, method, request);
    RetryLoop<RequestT, T> answer = retries(call, true);
    AwaitLoop<RequestT, T> work = new AwaitLoop<>(call, backoff);
    return get(
        work.startAfter(answer.start()),
        status -> work.failure(status).orElseGet(() -> answer.failure(status)));
  }

  /**
   * The same without waiting for the result, which fails with what the other throws. Cancelling it
   * cancels whatever is running.
   *
   * @throws IllegalArgumentException if the method is not unary, or prohibits keys
   */
  public <RequestT, T> CompletableFuture<Reply<T>> callAndAwaitAsync(
      AbstractStub<?> stub, MethodDescriptor<RequestT, T> method, RequestT request) {
    KeyedCall<RequestT, T> call = keyed(stub, method, request);
    return new AwaitLoop<>(call, backoff).startAfter(retries(call, true).start());
  }

  /**
   * Waits until the asynchronous work behind an answer has ended. See {@link #awaitAsync}.
   *
   * @throws AwaitFailedException if it could not be waited for
   * @throws IllegalArgumentException if the stub has no intent, or the method is not unary, or
   *     prohibits keys
   */
  public <RequestT, T> Reply<T> await(
      AbstractStub<?> stub,
      MethodDescriptor<RequestT, T> method,
      RequestT request,
      Reply<T> answer) {
    requireIntent(stub);
    AwaitLoop<RequestT, T> work = new AwaitLoop<>(keyed(stub, method, request), backoff);
    return get(work.start(answer), status -> work.failure(status).orElseThrow());
  }

  /**
   * Waits until the asynchronous work behind an answer has ended, without holding a thread.
   *
   * <ol>
   *   <li>The answer's server waits, in {@code google.longrunning.Operations}; it is asked over the
   *       stub's channel, with its credentials and other options, in attempts of at most {@link
   *       Builder#attemptTimeout} each, which are repeated like those of a call.
   *   <li>If the server cannot wait, the client reads the record of the call's key through {@code
   *       idempotency.v1.Recovery}, after waits from 0.2 to 5 seconds.
   *   <li>Without that service, the call is sent again with the same key, after the same waits,
   *       until a minute before {@link Reply#expires}: after that, the call might run once more.
   *   <li>Once the server reports that it has no such operation or key, the client sends nothing
   *       more.
   * </ol>
   *
   * <p>The reply has the answer's response and {@code COMPLETED} or {@code FAILED}. Work that has
   * failed is no exception: look at {@link Reply#status}. An answer without a status is returned as
   * it is, because its server has nothing to wait for, or does not tell of it.
   *
   * <p>The result fails with an {@link AwaitFailedException}. Cancelling it cancels the attempt
   * that is running, and there is no other.
   *
   * @param stub of any kind, with the {@link Intent} of the call that was answered
   * @param request the one that was answered
   * @param answer from {@link #call}, or from one of the ways to have a {@link Reply}
   * @throws IllegalArgumentException if the stub has no intent, or the method is not unary, or
   *     prohibits keys
   */
  public <RequestT, T> CompletableFuture<Reply<T>> awaitAsync(
      AbstractStub<?> stub,
      MethodDescriptor<RequestT, T> method,
      RequestT request,
      Reply<T> answer) {
    requireIntent(stub);
    return new AwaitLoop<>(keyed(stub, method, request), backoff).start(answer);
  }

  private static <T> Reply<T> get(
      CompletableFuture<Reply<T>> reply, Function<Status, StatusRuntimeException> ended) {
    try {
      return reply.get();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      StatusRuntimeException failure =
          ended.apply(Status.CANCELLED.withDescription("interrupted").withCause(interrupt));
      reply.cancel(true);
      throw failure;
    } catch (ExecutionException failure) {
      if (failure.getCause() instanceof CallFailedException failed) {
        throw failed.here();
      }
      if (failure.getCause() instanceof AwaitFailedException failed) {
        throw failed.here();
      }
      throw new IllegalStateException(failure);
    }
  }

  private <RequestT, T> RetryLoop<RequestT, T> retries(
      KeyedCall<RequestT, T> call, boolean waitsForOperations) {
    return new RetryLoop<>(call, backoff, waitsForOperations);
  }

  private <RequestT, T> KeyedCall<RequestT, T> keyed(
      AbstractStub<?> stub, MethodDescriptor<RequestT, T> method, RequestT request) {
    requireKeyed(method);
    CallOptions options = stub.getCallOptions();
    Intent intent = Optional.ofNullable(options.getOption(Intent.OPTION)).orElseGet(Intent::create);
    Deadline deadline =
        Stream.of(
                Optional.of(Deadline.after(within.toNanos(), TimeUnit.NANOSECONDS)),
                Optional.ofNullable(options.getDeadline()),
                Optional.ofNullable(Context.current().getDeadline()))
            .flatMap(Optional::stream)
            .reduce(Deadline::minimum)
            .orElseThrow();
    return new KeyedCall<>(
        stub.getChannel(), keys, method, options, request, intent, deadline, attemptTimeout);
  }

  private static void requireIntent(AbstractStub<?> stub) {
    if (stub.getCallOptions().getOption(Intent.OPTION) == null) {
      throw new IllegalArgumentException(
          "the stub must have the intent of the answered call: with another key, the server would"
              + " run the call again"
              + " again");
    }
  }

  /** Refuses what must not be sent twice. */
  static void requireKeyed(MethodDescriptor<?, ?> method) {
    if (method.getType() != MethodDescriptor.MethodType.UNARY) {
      throw new IllegalArgumentException(method.getFullMethodName() + " is not unary");
    }
    if (KeyPlan.prohibitsKey(method)) {
      throw new IllegalArgumentException(
          method.getFullMethodName() + " prohibits keys, so it is not safe to call it twice");
    }
  }

  /** Settings of a caller. */
  public static final class Builder {
    private Duration within = Duration.ofMinutes(1);
    private Duration attemptTimeout = Duration.ofSeconds(10);
    private Backoff backoff = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(30));
    private IdempotencyClientInterceptor keys = IdempotencyClientInterceptor.create();

    private Builder() {}

    /** Sets the time for all attempts and the waits between them; a minute if not set. */
    public Builder within(Duration within) {
      this.within = positive(within);
      return this;
    }

    /**
     * Sets the time for one attempt, after which its answer counts as lost; 10 seconds if not set.
     */
    public Builder attemptTimeout(Duration timeout) {
      this.attemptTimeout = positive(timeout);
      return this;
    }

    /**
     * Sets the waits where the server names none: each is twice the one before, and the half of it
     * is random. From 100 milliseconds to 30 seconds if not set.
     */
    public Builder backoff(Duration first, Duration longest) {
      this.backoff = new Backoff(first, longest);
      return this;
    }

    /** Sets the header for keys, for a server that was given another name than the standard one. */
    public Builder keyHeader(String name) {
      this.keys = keys.keyHeader(name);
      return this;
    }

    /** Demands protection; see {@link IdempotencyClientInterceptor#requireProtection}. */
    public Builder requireProtection() {
      this.keys = keys.requireProtection();
      return this;
    }

    /**
     * Sets what is called for every answer that is not protected; see {@link
     * IdempotencyClientInterceptor#onUnprotected}.
     */
    public Builder onUnprotected(Consumer<MethodDescriptor<?, ?>> listener) {
      this.keys = keys.onUnprotected(listener);
      return this;
    }

    /** Returns the caller. */
    public RetryingCaller build() {
      return new RetryingCaller(this);
    }

    static Duration positive(Duration duration) {
      if (duration.isNegative() || duration.isZero()) {
        throw new IllegalArgumentException("a duration must be positive, not " + duration);
      }
      return duration;
    }
  }
}
