package io.github.grpcidempotency.call.internal;

import io.github.grpcidempotency.internal.context.OperationContext;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.record.Replay;
import io.github.grpcidempotency.internal.settling.OwnedClaim;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/**
 * A run of a call with a key. The outcome is persisted before it is sent, so no client gets an
 * answer that a retry would not get.
 */
final class KeyedRun extends Run {
  private final KeyedCall call;
  private final Duration claimTook;
  private final OwnedClaim operation;

  private KeyedRun(KeyedCall call, OwnedClaim operation, Duration claimTook) {
    super(call.transport, call.engine, operation.procedure(), OperationContext.of(operation));
    this.call = call;
    this.claimTook = claimTook;
    this.operation = operation;
  }

  /** Returns the run that owns a claim that was won. */
  static KeyedRun of(KeyedCall call, Claim claim, Duration claimTook) {
    return owning(
        () -> new KeyedRun(call, call.engine.own(claim, call.request(), call.events), claimTook),
        claim::close);
  }

  @Override
  void begin() {
    call.won(operation.claim());
    engine.track(operation, claimTook);
  }

  @Override
  Runnable settle(Answer answer) {
    try {
      return switch (record(answer)) {
        case DONE -> sending(answer, true);
        case UNREFERRED -> sending(answer, false);
        case PREEMPTED -> {
          drop();
          yield call::startOver;
        }
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
        ? engine.settler().complete(operation, answer.response().get())
        : engine.settler().fail(operation, answer.error(), answer::recordOfError);
  }

  private Runnable sending(Answer answer, boolean refers) {
    Claim claim = operation.claim();
    return () ->
        answer.send(claim.operationId(), claim.expires(), Replay.firstStatus(procedure, refers));
  }

  @Override
  Runnable settleUnanswered() {
    engine.settler().giveUp(operation, engine.bindsThreads(procedure));
    return operation.claim().transaction().isPresent()
        ? rolledBack(transport)
        : refusal(Refusal.inProgress(engine.lease()));
  }

  /** Records the answer of a reserved call if no other call has taken over its key. */
  @Override
  void settleLate(Answer answer) {
    if (operation.claim().transaction().isEmpty()) {
      settle(answer);
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
    operation.close();
  }

  @Override
  public boolean isAwaited() {
    return engine.isAwaited(operation);
  }

  private UUID operationId() {
    return operation.claim().operationId();
  }

  @Override
  public String subject() {
    return "operation " + operationId();
  }

  @Override
  public String consequence() {
    return operation.claim().transaction().isPresent()
        ? rollback()
        : "Its outcome is unknown: a retry runs the handler again once the lease has ended.";
  }
}
