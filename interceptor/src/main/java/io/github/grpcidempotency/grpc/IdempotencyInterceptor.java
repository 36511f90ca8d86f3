package io.github.grpcidempotency.grpc;

import com.google.protobuf.Message;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.internal.context.CurrentOperation;
import io.github.grpcidempotency.internal.decision.KeyDecision;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.runtime.Engine;
import io.github.grpcidempotency.internal.runtime.Setup;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.CallerResolver;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes create RPCs safe to retry: the handler runs once for an {@code idempotency-key}, and every
 * retry gets the first answer.
 *
 * <p>Untouched, at no cost, are: methods without a {@link Procedure}, calls without a key, and
 * everything if no store is configured. A call that has a key and is not protected all the same,
 * for want of a caller for instance, is heard: see {@link UnprotectedCause}. Register the
 * interceptor once, so that authentication runs first ({@code ServerBuilder} calls the one added
 * last first).
 *
 * <p>Store work runs on the thread that gRPC calls back on: give the server an executor that may
 * block, as for any handler that talks to a database. Thread-safe.
 */
public final class IdempotencyInterceptor implements ServerInterceptor, AutoCloseable {
  private static final Logger logger = LoggerFactory.getLogger(IdempotencyInterceptor.class);

  private final Procedures procedures;
  private final CallerResolver callers;
  private final Metadata.Key<String> keyHeader;
  private final Optional<Engine> engine;

  private IdempotencyInterceptor(Builder builder) {
    this.procedures = builder.procedures;
    this.callers = builder.callers;
    this.keyHeader = IdempotencyMetadata.ascii(builder.keyHeader);
    this.engine =
        builder.store.map(
            store -> new Engine(store, builder.listener, keyHeader.name(), builder.executor));
  }

  /**
   * Starts an interceptor.
   *
   * @param procedures the create RPCs to make idempotent
   * @param callers who calls
   */
  public static Builder builder(Procedures procedures, CallerResolver callers) {
    return new Builder(procedures, callers);
  }

  @Override
  public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    Optional<Procedure> found = procedures.find(call.getMethodDescriptor().getFullMethodName());
    if (found.isEmpty() || engine.isEmpty()) {
      return next.startCall(call, headers);
    }
    Procedure procedure = found.get();
    if (CurrentOperation.isGuarded()) {
      engine.get().unprotected(procedure, UnprotectedCause.REGISTERED_TWICE, null);
      return next.startCall(call, headers);
    }
    Optional<Caller> caller;
    try {
      caller = callers.resolve();
    } catch (RuntimeException failed) {
      return refuseUnresolved(engine.get(), call, procedure, failed);
    }
    KeyFinder finder = new KeyFinder(procedure, keyHeader.name(), caller, headers, engine.get());
    if (finder.readsRequest()) {
      return start(procedure, finder::decide, caller, call, headers, next);
    }
    KeyDecision decision = finder.decide();
    return decision.accept(
        new KeyDecision.Visitor<>() {
          @Override
          public ServerCall.Listener<RequestT> keyed(IdempotencyKey key, String name) {
            return start(procedure, request -> decision, caller, call, headers, next);
          }

          @Override
          public ServerCall.Listener<RequestT> unkeyed() {
            return procedure.execution() == Execution.TRANSACTIONAL
                ? start(procedure, request -> decision, caller, call, headers, next)
                : next.startCall(call, headers);
          }

          @Override
          public ServerCall.Listener<RequestT> noCaller() {
            return unkeyed();
          }

          @Override
          public ServerCall.Listener<RequestT> refuse(Refusal refusal, String name) {
            ResponseWriter.refuse(call, refusal, name, procedure, engine.get());
            return new ServerCall.Listener<>() {};
          }
        });
  }

  private <RequestT, ResponseT> ServerCall.Listener<RequestT> start(
      Procedure procedure,
      Function<Message, KeyDecision> keyOf,
      Optional<Caller> caller,
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    return new IdempotentCall<>(engine.orElseThrow(), procedure, keyOf, caller, call, headers, next)
        .start();
  }

  /** Stops renewing leases and recording late answers. Call it when the server has terminated. */
  @Override
  public void close() {
    engine.ifPresent(Engine::close);
  }

  /** Without knowing the caller nothing can be decided, so the handler does not run. */
  private <RequestT> ServerCall.Listener<RequestT> refuseUnresolved(
      Engine present, ServerCall<RequestT, ?> call, Procedure procedure, RuntimeException failed) {
    present
        .log()
        .error(
            procedure.name() + " caller",
            failed,
            "%s: the caller resolver %s has thrown"
                .formatted(procedure.name(), callers.getClass().getName()));
    ResponseWriter.close(
        call,
        failed instanceof StatusRuntimeException said
            ? said
            : Status.INTERNAL
                .withDescription("the caller could not be resolved")
                .asRuntimeException());
    return new ServerCall.Listener<>() {};
  }

  /** Settings of the interceptor. What belongs to one procedure is on its descriptor. */
  public static final class Builder {
    private final Procedures procedures;
    private final CallerResolver callers;
    private Optional<IdempotencyStore> store = Optional.empty();
    private String keyHeader = IdempotencyMetadata.KEY.name();
    private IdempotencyListener listener = new IdempotencyListener() {};
    private Executor executor = DefaultExecutor.shared();

    private Builder(Procedures procedures, CallerResolver callers) {
      this.procedures = procedures;
      this.callers = callers;
    }

    /** Sets where operations are recorded. Without a store every call passes through untouched. */
    public Builder store(IdempotencyStore store) {
      this.store = Optional.of(store);
      return this;
    }

    /**
     * Sets the request header that carries the key; {@code idempotency-key} by default.
     *
     * @throws IllegalArgumentException if it is not the name of an ASCII header
     */
    public Builder keyHeader(String name) {
      this.keyHeader = IdempotencyMetadata.ascii(name).name();
      return this;
    }

    /** Sets who hears of what happens; nobody by default. */
    public Builder listener(IdempotencyListener listener) {
      this.listener = listener;
      return this;
    }

    /**
     * Sets where calls go on that had to wait for another; their handlers may run there. Give the
     * executor of the server; by default it is a pool of daemon threads that grows as needed.
     */
    public Builder executor(Executor executor) {
      this.executor = executor;
      return this;
    }

    /**
     * Checks the procedures, and that the store can serve them, and returns the interceptor. Close
     * it with the server.
     *
     * @throws io.github.grpcidempotency.procedure.SetupException if anything is wrong; it lists all
     *     of it
     * @throws io.github.grpcidempotency.store.StoreException if the store cannot be reached
     */
    public IdempotencyInterceptor build() {
      Setup.check(procedures, store);
      if (store.isEmpty()) {
        logger.warn("no store is configured: calls with a key pass through unprotected");
      }
      return new IdempotencyInterceptor(this);
    }
  }
}
