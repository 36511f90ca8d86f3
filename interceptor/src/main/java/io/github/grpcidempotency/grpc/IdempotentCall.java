package io.github.grpcidempotency.grpc;

import com.google.protobuf.Message;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.event.WaitEnd;
import io.github.grpcidempotency.internal.context.OperationContext;
import io.github.grpcidempotency.internal.decision.ClaimDecider;
import io.github.grpcidempotency.internal.decision.Decision;
import io.github.grpcidempotency.internal.decision.KeyDecision;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.runtime.Drain;
import io.github.grpcidempotency.internal.runtime.Engine;
import io.github.grpcidempotency.internal.runtime.Engines;
import io.github.grpcidempotency.internal.runtime.InFlightWaiter;
import io.github.grpcidempotency.internal.runtime.KeyedRequest;
import io.github.grpcidempotency.internal.runtime.Operation;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.StoreTransaction;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The path of one call:
 *
 * <ol>
 *   <li>The request is buffered until the client has half-closed ({@link BufferedCall}).
 *   <li>Find its key. A call without a key runs unchanged, or in a plain transaction.
 *   <li>Take the request's fingerprint and claim the key.
 *   <li>Decide. Then execute the handler and settle ({@link ClaimedCall}), or replay, or refuse, or
 *       wait for the call that owns the key and decide again.
 * </ol>
 *
 * <p>If the claim is sent with the handler's first statement, the handler is started before it is
 * known whether the key is free ({@link LateCall}). If the claim is not won, the handler's result
 * is dropped, and the call starts over with a claim before the handler.
 *
 * <p>After a wait, the call claims the key again itself, on the thread that resumes the call.
 */
final class IdempotentCall<RequestT, ResponseT> extends BufferedCall<RequestT, ResponseT>
    implements Drain.Call {
  private static final Logger logger = LoggerFactory.getLogger(IdempotencyInterceptor.class);

  private final RefusableCall<RequestT, ResponseT> refusable;
  private final Engines engines;
  private final Procedure procedure;
  private final Function<Message, KeyDecision> keyOf;
  private final Optional<Caller> caller;
  private Engine engine;
  private volatile CallEvents events;
  private volatile String keyName;
  private Duration claimTook = Duration.ZERO;
  private volatile Optional<InFlightWaiter.Waiter> waiter = Optional.empty();
  private volatile Optional<Executor> rest = Optional.empty();
  private volatile Optional<UUID> operationId = Optional.empty();
  private Optional<Deadline> endOfWait = Optional.empty();
  private long beginOfWait;
  private boolean gone;

  IdempotentCall(
      Engines engines,
      Procedure procedure,
      Function<Message, KeyDecision> keyOf,
      Optional<Caller> caller,
      Engine engine,
      CallEvents events,
      RefusableCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    super(call, headers, next, events);
    this.refusable = call;
    this.events = events;
    this.engines = engines;
    this.engine = engine;
    this.procedure = procedure;
    this.keyOf = keyOf;
    this.caller = caller;
    this.keyName = engine.keyName();
  }

  @Override
  void serve(RequestT message) {
    Runnable next =
        keyOf
            .apply((Message) message)
            .accept(
                new KeyDecision.Visitor<>() {
                  @Override
                  public Runnable keyed(IdempotencyKey key, String name) {
                    return () -> claim(key, name, message);
                  }

                  @Override
                  public Runnable unkeyed() {
                    return () -> executeUnkeyed(message);
                  }

                  @Override
                  public Runnable noCaller() {
                    return () -> executeUnkeyed(message);
                  }

                  @Override
                  public Runnable refuse(Refusal refusal, String name) {
                    return () -> refuseFor(name, refusal);
                  }
                });
    next.run();
  }

  /** Refuses the call when its server stops, because a retry of a call with a key is safe. */
  @Override
  public void stopWaiting() {
    rest.ifPresent(sequence -> sequence.execute(this::refuseIfItWaits));
  }

  @Override
  public void cutOff() {
    refuseBecauseTheServerStops();
    stopWaiting();
  }

  private void refuseIfItWaits() {
    if (waiter.filter(InFlightWaiter.Waiter::cancel).isPresent()) {
      waitEnded(WaitEnd.GAVE_UP);
      refuseBecauseTheServerStops();
    }
  }

  private void refuseBecauseTheServerStops() {
    Refusal refusal = Refusal.shuttingDown(operationId);
    refusable.refuse(refusal, keyName, () -> events.refused(refusal, operationId, null));
  }

  @Override
  void ended() {
    engines.drain().remove(this);
  }

  @Override
  void cancelledEarly() {
    gone = true;
    if (waiter.filter(InFlightWaiter.Waiter::cancel).isPresent()) {
      waitEnded(WaitEnd.CANCELLED);
    }
  }

  private void claim(IdempotencyKey key, String name, RequestT message) {
    keyName = name;
    if (!caller.equals(Optional.of(key.caller()))) {
      engine = engines.of(key.caller());
    }
    events = events.of(key, name).onShard(engine.shard());
    events.keyFound();
    engines.drain().add(this);
    if (refusable.isRefused()) {
      return;
    }
    claim(
        KeyedRequest.of(
            key, procedure, (Message) message, events.trace(), RetryHint.isIn(headers())),
        message);
  }

  private void claim(KeyedRequest request, RequestT message) {
    long begun = System.nanoTime();
    ClaimResult met = engine.claim(request);
    act(request, met, Duration.ofNanos(System.nanoTime() - begun), message);
  }

  private void act(KeyedRequest request, ClaimResult met, Duration took, RequestT message) {
    claimTook = took;
    Decision decision =
        ClaimDecider.decide(
            met,
            procedure,
            ProtectionDemand.outagePolicy(procedure, headers()),
            request::compare,
            timeLeft());
    if (endOfWait.isPresent() && !(decision instanceof Decision.Attach)) {
      waitEnded(CallEvents.endOfWait(met));
    }
    decision.accept(
        new Decision.Actor<RuntimeException>() {
          @Override
          public void execute(Claim claim) {
            run(new Operation(request, claim, events), message);
          }

          @Override
          public void executeUnguarded(StoreException outage) {
            runUnguarded(outage, request, message);
          }

          @Override
          public void replay(ClaimResult.Recorded recorded) {
            new ReplayedCall<>(engine, request, recorded, keyName, call(), events, claimTook)
                .answer(context());
          }

          @Override
          public void attach(ClaimResult.InFlight running, Duration limit) {
            await(running, limit, request.again(), message);
          }

          @Override
          public void refuse(Refusal refusal) {
            IdempotentCall.this.refuse(refusal, met);
          }
        });
  }

  private void run(Operation operation, RequestT message) {
    operationId = Optional.of(operation.claim().operationId());
    Context running = OperationContext.in(context(), operation);
    ClaimedCall<RequestT, ResponseT> claimed =
        operation.isConfirmed()
            ? new ClaimedCall<>(engine, operation, keyName, call(), running, claimTook)
            : late(operation, running, message);
    try {
      run(running, claimed.start(), message);
    } catch (Throwable thrown) {
      if (!claimed.handlerThrew(thrown)) {
        throw thrown;
      }
      logger.debug("{}: an exception of the handler does not count", procedure.name(), thrown);
      return;
    }
    claimed.handlerReturned();
  }

  private LateCall<RequestT, ResponseT> late(
      Operation operation, Context running, RequestT message) {
    keepHeaders();
    return new LateCall<>(
        engine,
        operation,
        keyName,
        call(),
        running,
        claimTook,
        outage -> startOver(operation.request(), outage, message));
  }

  /**
   * Claims the key again after the handler's result was dropped, unless the claim could not be
   * confirmed or the call was cancelled.
   */
  private void startOver(KeyedRequest request, Optional<StoreException> outage, RequestT message) {
    stopHandler();
    if (outage.isPresent()) {
      act(request, new ClaimResult.Unanswered(outage.get()), claimTook, message);
    } else if (context().isCancelled()) {
      closeUnlessAnswered(Contexts.statusFromCancelled(context()));
    } else {
      claim(request.again(), message);
    }
  }

  private void executeUnkeyed(RequestT message) {
    if (procedure.execution() == Execution.TRANSACTIONAL) {
      executeInTransaction(message);
    } else {
      run(context(), new PrefetchedCall<>(call()), message);
    }
  }

  private void executeInTransaction(RequestT message) {
    StoreTransaction transaction;
    try {
      transaction = engine.begin(caller);
    } catch (StoreException unreachable) {
      engine
          .log()
          .warn(
              procedure.name() + " begin",
              unreachable,
              procedure.name() + ": could not open a transaction" + engine.ofShard());
      ResponseWriter.unavailable(call(), unreachable);
      return;
    }
    Context running = OperationContext.in(context(), transaction);
    TransactionCall<RequestT, ResponseT> transactional =
        new TransactionCall<>(procedure, transaction, call(), engine, running);
    try {
      run(running, transactional.start(), message);
    } catch (Throwable thrown) {
      transactional.handlerThrew();
      throw thrown;
    }
    transactional.handlerReturned();
  }

  private void await(
      ClaimResult.InFlight met, Duration limit, KeyedRequest request, RequestT message) {
    if (endOfWait.isEmpty()) {
      endOfWait = Optional.of(Deadline.after(limit.toMillis(), TimeUnit.MILLISECONDS));
      beginOfWait = System.nanoTime();
      events.attached();
    }
    Executor sequence = moveTo(engine.executor());
    rest = Optional.of(sequence);
    operationId = met.operationId();
    InFlightWaiter.Waiter next =
        engine
            .waiter()
            .toRun(
                request,
                new InFlightWaiter.Waiting() {
                  @Override
                  public void found(ClaimResult result, Duration took) {
                    goOn(() -> act(request, result, took, message));
                  }

                  @Override
                  public void free() {
                    goOn(() -> claimInTurn(request, message));
                  }

                  @Override
                  public void over(ClaimResult.InFlight running) {
                    goOn(() -> giveUpWaiting(request, running, message));
                  }

                  private void goOn(Runnable step) {
                    sequence.execute(() -> orClose(step));
                  }
                });
    waiter = Optional.of(next);
    next.begin(met, limit);
    engines.drain().stopIfDraining(this);
  }

  /** Closes the call if the handler throws, because gRPC does so only on its own executor. */
  private void orClose(Runnable step) {
    try {
      step.run();
    } catch (Throwable thrown) {
      logger.error("{}: the handler failed", procedure.name(), thrown);
      closeUnlessAnswered(
          Status.UNKNOWN.withDescription("Application error processing RPC").withCause(thrown));
    }
  }

  /**
   * Claims the key, which seems to be free. The turn of the next duplicate begins after this call.
   */
  private void claimInTurn(KeyedRequest request, RequestT message) {
    InFlightWaiter.Waiter turn = waiter.orElseThrow();
    try {
      if (gone || context().isCancelled()) {
        waitEnded(WaitEnd.CANCELLED);
      } else {
        claim(request, message);
      }
    } finally {
      turn.endTurn();
    }
  }

  /** Ends the wait of this call although another call is still running. */
  private void giveUpWaiting(KeyedRequest request, ClaimResult.InFlight met, RequestT message) {
    endOfWait = Optional.of(Deadline.after(0, TimeUnit.MILLISECONDS));
    act(request, met, Duration.ZERO, message);
  }

  private void waitEnded(WaitEnd end) {
    events.waitEnded(Duration.ofNanos(System.nanoTime() - beginOfWait), end);
  }

  private void closeUnlessAnswered(Status status) {
    try {
      call().close(status, new Metadata());
    } catch (IllegalStateException answered) {
      logger.debug("{}: the call was already answered", procedure.name(), answered);
    }
  }

  private void refuseFor(String name, Refusal refusal) {
    keyName = name;
    events.refused(refusal, Optional.empty(), null);
    ResponseWriter.refuse(call(), refusal, keyName);
  }

  private void refuse(Refusal refusal, ClaimResult met) {
    events.refused(refusal, met);
    ResponseWriter.refuse(call(), refusal, keyName);
  }

  /**
   * Runs the handler without a claim. A retry of an unprotected call is not safe, so the call is
   * not refused when its server stops. If the call was refused during its claim, the handler does
   * not run.
   */
  private void runUnguarded(StoreException outage, KeyedRequest request, RequestT message) {
    engines.drain().remove(this);
    if (!refusable.keep()) {
      return;
    }
    events.unprotected(UnprotectedCause.FAILED_OPEN, outage);
    run(OperationContext.in(context(), request), new PrefetchedCall<>(call()), message);
  }

  /** Returns how long the call may wait; empty if there is no limit. */
  private Optional<Duration> timeLeft() {
    Optional<Duration> untilDeadline =
        Optional.ofNullable(context().getDeadline()).map(IdempotentCall::timeUntil);
    Optional<Duration> ofWait = endOfWait.map(IdempotentCall::timeUntil);
    return untilDeadline
        .filter(left -> ofWait.isEmpty() || left.compareTo(ofWait.get()) < 0)
        .or(() -> ofWait);
  }

  private static Duration timeUntil(Deadline end) {
    return Duration.ofMillis(end.timeRemaining(TimeUnit.MILLISECONDS));
  }
}
