package io.github.grpcidempotency.grpc;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.protobuf.Message;
import io.github.grpcidempotency.background.DaemonThreads;
import io.github.grpcidempotency.call.internal.KeyFinder;
import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.grpc.internal.RecordedOperations;
import io.github.grpcidempotency.grpc.internal.RecoveryService;
import io.github.grpcidempotency.grpc.spi.OperationAccess;
import io.github.grpcidempotency.internal.context.OperationContext;
import io.github.grpcidempotency.internal.decision.KeyDecision;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.engine.Closing;
import io.github.grpcidempotency.internal.engine.Engine;
import io.github.grpcidempotency.internal.engine.EngineSettings;
import io.github.grpcidempotency.internal.engine.Engines;
import io.github.grpcidempotency.internal.engine.Setup;
import io.github.grpcidempotency.internal.engine.Stores;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.event.DecisionLog;
import io.github.grpcidempotency.internal.event.Listeners;
import io.github.grpcidempotency.internal.waiting.WaitLimits;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.CallerResolver;
import io.github.grpcidempotency.key.KeyProblem;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.proto.Experimental;
import io.github.grpcidempotency.proto.WireNames;
import io.github.grpcidempotency.proto.v1.RecoveryGrpc;
import io.github.grpcidempotency.shard.Shards;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.store.FailureCause;
import io.grpc.BindableService;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes RPCs that create or delete resources safe to retry. The first call with an {@code
 * idempotency-key} runs the handler, and every retry gets its answer. The {@link Execution} of a
 * procedure decides whether a crash can make the handler run again.
 *
 * <p>Methods without a {@link Procedure} and calls without a key pass through unchanged, except
 * that a transactional handler gets a transaction also without a key. If a call has a key but runs
 * unprotected, for example because it has no caller, an event reports it: see {@link
 * UnprotectedCause}. So is a call of a method whose {@code (idempotency.v1.procedure)} option the
 * interceptor does not have. Register the interceptor once. Authentication must run before it
 * ({@code ServerBuilder} calls the interceptor that was added last first).
 *
 * <p>The store is called on the threads of the server's executor. As for any handler that uses a
 * database, that executor must allow blocking. Thread-safe.
 */
public final class IdempotencyInterceptor implements ServerInterceptor, AutoCloseable {
  private static final Logger logger = LoggerFactory.getLogger(IdempotencyInterceptor.class);

  /** The name of the caller resolver in events. */
  private static final String CALLERS = "caller";

  private final Procedures procedures;
  private final CallerResolver callers;
  private final Optional<Engines> engines;
  private final MethodsWithoutDescriptor undescribed = new MethodsWithoutDescriptor();
  private final Queue<Runnable> closing = new ConcurrentLinkedQueue<>();

  private IdempotencyInterceptor(Builder builder, Optional<Stores> stores) {
    this.procedures = builder.procedures;
    this.callers =
        () ->
            Objects.requireNonNull(
                builder.callers.resolve(), "the caller resolver returned null, not an Optional");
    this.engines =
        stores.map(
            found ->
                new Engines(
                    found,
                    new EngineSettings(
                        new Listeners(builder.listeners),
                        new DecisionLog(builder.keyHashSecret),
                        builder.callLimit,
                        builder.waitLimits,
                        builder.executor)));
  }

  /** Returns a builder. */
  public static Builder builder(Procedures procedures, CallerResolver callers) {
    return new Builder(procedures, callers);
  }

  @Override
  public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    Optional<Procedure> found = procedures.find(call.getMethodDescriptor().getFullMethodName());
    if (found.isEmpty()) {
      return runUndescribed(call, headers, next);
    }
    Procedure procedure = found.get();
    if (engines.isEmpty()) {
      return runUnrecorded(procedure, call, headers, next);
    }
    CallEvents arrived = engines.get().events(procedure, Entry.CALL);
    if (OperationContext.isIntercepted()) {
      arrived.unprotected(UnprotectedCause.REGISTERED_TWICE, null);
      return next.startCall(call, headers);
    }
    Optional<Caller> caller;
    try {
      caller = callers.resolve();
    } catch (Throwable failed) {
      return refuseUnresolved(arrived, call, failed);
    }
    Optional<Engine> engine = engines.get().of(caller);
    CallEvents events = arrived.of(caller).onShard(engine.flatMap(Engine::shard));
    Optional<Refusal> repeated = RequestHeaders.repeatedDemand(procedure, headers);
    if (repeated.isPresent()) {
      events.keyInvalid(WireNames.REQUIRED, KeyProblem.REPEATED);
      return refuse(events, call, new KeyDecision.Refuse(repeated.get(), WireNames.REQUIRED));
    }
    KeyFinder finder =
        new KeyFinder(
            procedure,
            RequestHeaders.keyPolicy(procedure, headers),
            caller,
            name -> RequestHeaders.all(name, headers),
            events);
    Function<Message, KeyDecision> keyOf = request -> finder.decide(Optional.of(request));
    if (!finder.readsRequest()) {
      KeyDecision decision = finder.decide(Optional.empty());
      if (decision instanceof KeyDecision.Refuse refused) {
        return refuse(events, call, refused);
      }
      if (decision instanceof KeyDecision.Unkeyed
          && procedure.execution() != Execution.TRANSACTIONAL) {
        return next.startCall(call, headers);
      }
      keyOf = request -> decision;
    }
    return new GrpcCall<>(
            engines.get(), procedure, keyOf, caller, engine, events, call, headers, next)
        .start();
  }

  private static <RequestT> ServerCall.Listener<RequestT> refuse(
      CallEvents events, ServerCall<RequestT, ?> call, KeyDecision.Refuse refused) {
    events.refused(refused.refusal(), Optional.empty(), null);
    ResponseWriter.refuse(call, refused.refusal(), refused.keyName());
    return new ServerCall.Listener<>() {};
  }

  private <RequestT, ResponseT> ServerCall.Listener<RequestT> runUndescribed(
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    Optional<Procedure> annotated = undescribed.find(call.getMethodDescriptor());
    if (annotated.isEmpty() || OperationContext.isIntercepted()) {
      return next.startCall(call, headers);
    }
    engines.ifPresent(
        present ->
            present
                .events(annotated.get(), Entry.CALL)
                .unprotected(UnprotectedCause.NOT_DESCRIBED, null));
    return runUnrecorded(annotated.get(), call, headers, next);
  }

  private static <RequestT, ResponseT> ServerCall.Listener<RequestT> runUnrecorded(
      Procedure procedure,
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    if (RequestHeaders.requireProtection(headers)
        && procedure.keyPolicy() != KeyPolicy.HANDLER_INTERNAL) {
      ResponseWriter.refuse(call, Refusal.storeUnavailable(FailureCause.OTHER), "no key");
      return new ServerCall.Listener<>() {};
    }
    return next.startCall(call, headers);
  }

  /**
   * Returns the service {@code idempotency.v1.Recovery}. A client that no longer has its request
   * can find the outcome of its call there by method and key. Add it to the server with the same
   * authentication as the other services. Without a store it finds nothing.
   */
  public BindableService recovery() {
    return engines.isPresent()
        ? new RecoveryService(procedures, callers, engines.get())
        : new RecoveryGrpc.RecoveryImplBase() {};
  }

  /**
   * Returns the recorded operations, for {@code LongRunningOperations} of the module {@code
   * grpc-idempotency-long-running-operations}; empty without a store. Not for users.
   */
  public Optional<OperationAccess> operationAccess() {
    return engines.map(
        present -> new RecordedOperations(procedures, callers, present, closing::add));
  }

  /**
   * Stops servers. Every call with a key that the servers do not answer is refused in a way that
   * allows the client to retry it. Blocks until the servers have terminated, or until shortly after
   * the grace period. Close this interceptor afterwards.
   *
   * <ol>
   *   <li>The servers stop accepting calls.
   *   <li>Every waiting call (a duplicate, {@code Recover} or {@code WaitOperation}) is refused
   *       with {@code UNAVAILABLE}, the reason {@code IDEMPOTENCY_SHUTTING_DOWN}, and {@code
   *       RetryInfo}.
   *   <li>Running handlers have the grace period to end.
   *   <li>After the grace period, each call with a key that is still running is refused in the same
   *       way. Its handler continues, and the answer is recorded if the handler ends before this
   *       interceptor is closed.
   *   <li>gRPC cancels all other calls ({@link Server#shutdownNow}).
   * </ol>
   *
   * <p>Servers that are started later can use the same interceptor. If the thread is interrupted,
   * the grace period ends at once.
   *
   * @param grace how long handlers may continue
   * @param servers the servers that this interceptor is registered with, at least one
   * @throws IllegalArgumentException if there is no server
   */
  public void drain(Duration grace, Server... servers) {
    checkArgument(servers.length > 0, "no server was passed: pass the servers to stop");
    new ServerStop(engines.map(Engines::drain), List.of(servers)).within(grace);
  }

  /**
   * Answers the calls that wait, and tries once more to record late answers. Handlers that still
   * run keep their keys: their leases are renewed until they end, or this process does, and one
   * line at level {@code WARN} contains their number. Call it when the server has terminated.
   */
  @Override
  public void close() {
    Stream<Runnable> last = engines.stream().map(present -> present::close);
    Closing.all(Stream.concat(closing.stream(), last).toList());
  }

  private static <RequestT> ServerCall.Listener<RequestT> refuseUnresolved(
      CallEvents events, ServerCall<RequestT, ?> call, Throwable failed) {
    events.extractionFailed(CALLERS, KeyProblem.DEFECT, failed);
    ResponseWriter.close(
        call,
        failed instanceof StatusRuntimeException said
            ? said
            : Status.INTERNAL
                .withDescription("the caller could not be resolved")
                .asRuntimeException());
    return new ServerCall.Listener<>() {};
  }

  /** The settings of an interceptor. Settings of one procedure belong in its descriptor. */
  public static final class Builder {
    private final Procedures procedures;
    private final CallerResolver callers;
    private Optional<IdempotencyStore> store = Optional.empty();
    private Optional<Shards> shards = Optional.empty();
    private boolean withoutStore;
    private final List<IdempotencyListener> listeners = new ArrayList<>();
    private Optional<byte[]> keyHashSecret = Optional.empty();
    private Duration callLimit = Duration.ofHours(1);
    private WaitLimits waitLimits = WaitLimits.DEFAULT;
    private Executor executor = DaemonThreads.pool();

    private Builder(Procedures procedures, CallerResolver callers) {
      this.procedures = procedures;
      this.callers = callers;
    }

    /** Sets the store that records operations. */
    public Builder store(IdempotencyStore store) {
      this.store = Optional.of(store);
      return this;
    }

    /** Sets the shards that record operations, instead of one store. */
    @Experimental
    public Builder shards(Shards shards) {
      this.shards = Optional.of(shards);
      return this;
    }

    private Optional<Stores> stores() {
      return shards.map(Stores::of).or(() -> store.map(Stores::of));
    }

    /**
     * Allows the interceptor to start without a store. Every call then passes through unprotected,
     * and a warning is logged at start-up.
     */
    public Builder withoutStore() {
      this.withoutStore = true;
      return this;
    }

    /**
     * Adds a listener for events. Listeners are called in the order in which they were added. There
     * is none by default.
     */
    public Builder listener(IdempotencyListener listener) {
      this.listeners.add(listener);
      return this;
    }

    /**
     * Adds {@code key_hash} to the lines of the log {@code io.github.grpcidempotency.decision}: the
     * first 16 hexadecimal digits of an HMAC-SHA-256 over the tenant, the project and the key, with
     * a zero byte between them. If all servers have the same secret, an operator can find all lines
     * about one key. Without a secret, the lines contain only operation ids.
     *
     * @param secret at least 16 bytes
     * @throws IllegalArgumentException if the secret is shorter
     */
    public Builder keyHashSecret(byte[] secret) {
      this.keyHashSecret = Optional.of(DecisionLog.checkSecret(secret));
      return this;
    }

    /**
     * Sets how long a handler may run, if its call has no longer deadline; one hour by default, and
     * 365 days at most. Until then, a handler whose method has not returned keeps its key, whatever
     * its client does. A handler that has returned without an answer is also given up once its
     * client has gone and nobody waits for its key: {@link
     * io.github.grpcidempotency.procedure.ProcedureBuilder#unansweredLimit}. If the library gives
     * up a transactional call, the transaction is rolled back. If it gives up a reserved call, the
     * outcome is unknown, and a retry runs the handler again once the lease has ended.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public Builder callLimit(Duration limit) {
      checkArgument(
          limit.compareTo(Duration.ZERO) > 0, "the call limit must be positive, not %s", limit);
      this.callLimit = limit;
      return this;
    }

    /**
     * Sets how many calls of this process may wait for running calls; 10,000 in all and 1,000 for
     * one key by default. A duplicate beyond a limit is refused at once.
     *
     * @throws IllegalArgumentException if a limit is negative
     */
    public Builder waitingCalls(int all, int perKey) {
      this.waitLimits = waitLimits.ofCalls(all, perKey);
      return this;
    }

    /**
     * Sets the total size of the requests that may wait in this process, serialized; 64 MiB in all
     * and 8 MiB for one key by default. A waiting call keeps its request in memory, because the
     * call runs if the running call leaves no answer. A duplicate beyond a limit is refused at
     * once.
     *
     * @throws IllegalArgumentException if a limit is negative
     */
    public Builder waitingBytes(long all, long perKey) {
      this.waitLimits = waitLimits.ofBytes(all, perKey);
      return this;
    }

    /**
     * Sets the executor that resumes calls after a wait for another call. Handlers may run on this
     * executor, so pass the server's executor. It must run every task that it accepts: a call whose
     * task it discards is not answered. The default is a pool of daemon threads that grows as
     * needed.
     */
    public Builder executor(Executor executor) {
      this.executor = executor;
      return this;
    }

    /**
     * Checks the procedures and the stores, and returns the interceptor. Close it when the server
     * has terminated.
     *
     * @throws io.github.grpcidempotency.store.SetupException if anything is wrong; it lists every
     *     problem
     * @throws io.github.grpcidempotency.store.StoreException if the store cannot be reached
     */
    public IdempotencyInterceptor build() {
      List<String> problems = new ArrayList<>(MethodsWithoutDescriptor.problems(procedures));
      Optional<Stores> stores = stores();
      if (stores.isEmpty() && !withoutStore) {
        problems.add(
            "the interceptor has no store: call store(…), or shards(…), or withoutStore() to let"
                + " every call pass through unprotected");
      }
      if (store.isPresent() && shards.isPresent()) {
        problems.add(
            "the interceptor has a store and shards: call either store(…) or shards(…), because the"
                + " calls of each caller are recorded in one store");
      }
      Setup.check(problems, procedures, stores);
      if (stores.isEmpty()) {
        logger.warn("the interceptor has no store: calls with a key pass through unprotected");
      } else {
        procedures.all().stream()
            .sorted(Comparator.comparing(Procedure::name))
            .forEach(procedure -> logger.info(Setup.line(procedure)));
      }
      IdempotencyInterceptor interceptor = new IdempotencyInterceptor(this, stores);
      interceptor.engines.ifPresent(Engines::start);
      return interceptor;
    }
  }
}
