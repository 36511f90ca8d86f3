package io.github.grpcidempotency.client;

import io.github.grpcidempotency.proto.WireNames;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.AbstractStub;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
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
  private final int maxAttempts;
  private final Backoff backoff;
  private final IdempotencyClientInterceptor keys;

  private RetryingCaller(Builder builder) {
    this.within = builder.within;
    this.attemptTimeout = builder.attemptTimeout;
    this.maxAttempts = builder.maxAttempts;
    this.backoff = builder.backoff;
    this.keys = IdempotencyClientInterceptor.withKeyHeader(builder.keyHeader);
  }

  /** Returns one with the default settings. */
  public static RetryingCaller create() {
    return builder().build();
  }

  /** Begins one with other settings. */
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
    RetryLoop<RequestT, T> loop = start(stub, method, request);
    CompletableFuture<Reply<T>> reply = loop.reply();
    try {
      return reply.get();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      CallFailedException failure =
          loop.failure(
              Status.CANCELLED.withDescription("interrupted").withCause(interrupt), new Metadata());
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
   * Calls without waiting. The result fails with a {@link CallFailedException} if there is no
   * answer; cancelling it cancels the attempt that is running, and there is no other. What depends
   * on it runs on the channel's executor.
   *
   * @throws IllegalArgumentException if the method is not unary, or prohibits keys
   */
  public <RequestT, T> CompletableFuture<Reply<T>> callAsync(
      AbstractStub<?> stub, MethodDescriptor<RequestT, T> method, RequestT request) {
    return start(stub, method, request).reply();
  }

  private <RequestT, T> RetryLoop<RequestT, T> start(
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
    Channel channel = ClientInterceptors.intercept(stub.getChannel(), keys);
    RetryLoop<RequestT, T> loop =
        new RetryLoop<>(
            intent,
            deadline,
            attemptTimeout,
            maxAttempts,
            backoff,
            attemptDeadline ->
                Attempt.start(
                    channel,
                    method,
                    options.withOption(Intent.OPTION, intent).withDeadline(attemptDeadline),
                    request));
    loop.start();
    return loop;
  }

  /** Refuses what must not be sent twice. */
  static void requireKeyed(MethodDescriptor<?, ?> method) {
    if (method.getType() != MethodDescriptor.MethodType.UNARY) {
      throw new IllegalArgumentException(method.getFullMethodName() + " is not unary");
    }
    if (KeyPlan.prohibitsKey(method)) {
      throw new IllegalArgumentException(
          method.getFullMethodName() + " prohibits keys: it is not safe to call it twice");
    }
  }

  /** Settings of a caller. */
  public static final class Builder {
    private Duration within = Duration.ofMinutes(1);
    private Duration attemptTimeout = Duration.ofSeconds(10);
    private int maxAttempts = Integer.MAX_VALUE;
    private Backoff backoff = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(30));
    private String keyHeader = WireNames.KEY;

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

    /** Sets how many attempts are made at most, the first included; not limited if not set. */
    public Builder maxAttempts(int attempts) {
      if (attempts < 1) {
        throw new IllegalArgumentException("at least one attempt is made");
      }
      this.maxAttempts = attempts;
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
      this.keyHeader = name;
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
