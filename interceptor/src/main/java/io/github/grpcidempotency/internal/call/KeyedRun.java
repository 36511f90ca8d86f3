package io.github.grpcidempotency.internal.call;

import io.github.grpcidempotency.internal.context.OperationContext;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.record.ReplayStatus;
import io.github.grpcidempotency.internal.runtime.Operation;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.PendingClaim;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/**
 * A run whose claim is settled when the handler has ended. The outcome is persisted before it is
 * sent, so no client gets an answer that a retry would not get.
 */
final class KeyedRun extends Run {
  private final KeyedCall call;
  private final Optional<PendingClaim> pending;
  private final Duration claimTook;
  private final long begun = System.nanoTime();
  private volatile Optional<Operation> won;
  private Optional<StoreException> outage = Optional.empty();

  private KeyedRun(KeyedCall call, Operation operation, Duration claimTook) {
    super(
        call.transport, call.engine, operation.procedure(), OperationContext.of(operation), false);
    this.call = call;
    this.pending = Optional.empty();
    this.claimTook = claimTook;
    this.won = Optional.of(operation);
  }

  private KeyedRun(KeyedCall call, PendingClaim pending, Duration claimTook) {
    super(
        call.transport,
        call.engine,
        call.request().procedure(),
        OperationContext.of(call.request(), pending),
        true);
    this.call = call;
    this.pending = Optional.of(pending);
    this.claimTook = claimTook;
    this.won = Optional.empty();
  }

  /** Returns the run that owns a claim that was won. */
  static KeyedRun of(KeyedCall call, Claim claim, Duration claimTook) {
    return owning(
        () -> new KeyedRun(call, call.engine.own(claim, call.request(), call.events), claimTook),
        claim::close);
  }

  /** Returns the run that owns a claim that is sent later. */
  static KeyedRun of(KeyedCall call, PendingClaim pending, Duration claimTook) {
    return owning(() -> new KeyedRun(call, pending, claimTook), () -> call.engine.forget(pending));
  }

  @Override
  void begin() {
    won.ifPresent(
        operation -> {
          call.won(operation.claim());
          engine.track(operation, claimTook);
        });
  }

  @Override
  boolean confirm() {
    if (pending.isPresent()) {
      long sent = System.nanoTime();
      try {
        won = engine.confirm(pending.get(), call.request(), call.events, begun);
      } catch (StoreException unasked) {
        outage = Optional.of(unasked);
      }
      Duration took = claimTook.plusNanos(System.nanoTime() - sent);
      won.ifPresent(operation -> call.events.claimed(operation.claim(), took));
    }
    return won.isPresent();
  }

  @Override
  void startOver() {
    call.startOver(outage);
  }

  @Override
  Runnable settle(Answer answer) {
    try {
      return switch (record(answer)) {
        case DONE -> sending(answer, true);
        case UNREFERRED -> sending(answer, false);
        case LOST -> refusal(Refusal.inProgress(engine.lease()));
        case ROLLED_BACK -> rolledBack(transport);
      };
    } catch (StoreException undone) {
      return refusal(Refusal.storeUnavailable(undone.failureCause()));
    } catch (TransactionMisuseException misuse) {
      return () -> transport.misused(misuse);
    }
  }

  private Settled record(Answer answer) {
    return answer.response().isPresent()
        ? engine.settler().complete(operation(), answer.response().get())
        : engine.settler().fail(operation(), answer.error(), answer::recordOfError);
  }

  private Runnable sending(Answer answer, boolean refers) {
    Claim claim = operation().claim();
    return () ->
        answer.send(claim.operationId(), claim.expires(), ReplayStatus.first(procedure, refers));
  }

  @Override
  Runnable settleThrown(Answer thrown) {
    return settle(thrown);
  }

  @Override
  Runnable settleUnanswered() {
    engine.settler().giveUp(operation(), engine.bindsThreads(procedure));
    return operation().claim().transaction().isPresent()
        ? rolledBack(transport)
        : refusal(Refusal.inProgress(engine.lease()));
  }

  @Override
  Runnable rollBackUnanswered() {
    engine.giveUp(pending.orElseThrow(), call.events);
    return rolledBack(transport);
  }

  /** Records the answer of a reserved call if no other call has taken over its key. */
  @Override
  void settleLate(Answer answer) {
    if (won.isPresent() && operation().claim().transaction().isEmpty()) {
      Runnable unused = settle(answer);
    }
  }

  @Override
  Runnable answerOfDefect() {
    return refusal(Refusal.inProgress(engine.lease()));
  }

  private Runnable refusal(Refusal refusal) {
    return () -> call.refuse(refusal, Optional.of(operationId()), null);
  }

  @Override
  public void close() {
    if (won.isEmpty()) {
      pending.ifPresent(engine::forget);
    } else {
      operation().close();
    }
  }

  @Override
  public boolean isAwaited() {
    return won.filter(engine::isAwaited).isPresent();
  }

  private UUID operationId() {
    return won.map(operation -> operation.claim().operationId())
        .orElseGet(() -> pending.orElseThrow().operationId());
  }

  private Operation operation() {
    return won.orElseThrow();
  }

  @Override
  public String subject() {
    return "operation " + operationId();
  }

  @Override
  public String consequence() {
    return pending.isPresent() || operation().claim().transaction().isPresent()
        ? ROLLED_BACK
        : "Its outcome is unknown: a retry runs the handler again once the lease has ended.";
  }
}
