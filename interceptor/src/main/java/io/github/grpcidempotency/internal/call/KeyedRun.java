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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A run whose claim is settled when the handler has ended. The outcome is persisted before it is
 * sent, so no client gets an answer that a retry would not get.
 */
final class KeyedRun extends Run {
  private static final Logger logger = LoggerFactory.getLogger(KeyedRun.class);

  private final KeyedCall call;
  private final Optional<PendingClaim> pending;
  private final Duration claimTook;
  private final long begun = System.nanoTime();
  private volatile Optional<Operation> won;
  private volatile boolean deferred;
  private Optional<StoreException> outage = Optional.empty();

  KeyedRun(KeyedCall call, Operation operation) {
    super(
        call.transport, call.engine, operation.procedure(), OperationContext.of(operation), false);
    this.call = call;
    this.pending = Optional.empty();
    this.claimTook = Duration.ZERO;
    this.won = Optional.of(operation);
  }

  KeyedRun(KeyedCall call, PendingClaim pending, Duration claimTook) {
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

  @Override
  boolean confirm() {
    if (pending.isPresent()) {
      try {
        won = engine.confirm(pending.get(), call.request(), call.events, begun, claimTook);
      } catch (StoreException unasked) {
        outage = Optional.of(unasked);
      }
    }
    return won.isPresent();
  }

  @Override
  void startOver() {
    call.startOver(outage);
  }

  @Override
  void settle(Answer answer) {
    Claim claim = operation().claim();
    if (answer.response().isEmpty()) {
      claim.failing();
    }
    deferred = claim.deferSettlement(() -> settleLater(answer));
    if (!deferred) {
      settleNow(answer);
    } else if (transport.callerRunsHandler()) {
      send(answer, answer.response().filter(operation()::namesResource).isPresent());
    }
  }

  /**
   * Settles after the end of the transaction in which the handler answered. The thread that ends
   * the transaction belongs to the host, so the settlement runs on another thread.
   */
  private void settleLater(Answer answer) {
    Runnable settlement =
        transport.callerRunsHandler() ? () -> recordSent(answer) : () -> settleNow(answer);
    engine.executor().execute(() -> call.events.within(() -> context.settle(settlement)));
  }

  /** Records an answer that was sent before it was recorded. */
  private void recordSent(Answer answer) {
    try {
      Settled unused = record(answer);
    } catch (StoreException | TransactionMisuseException reported) {
      logger.debug(
          "{}: could not record the answer after the caller's transaction ended",
          procedure.name(),
          reported);
    }
  }

  private void settleNow(Answer answer) {
    Settled settled;
    try {
      settled = record(answer);
    } catch (StoreException undone) {
      refuse(Refusal.storeUnavailable(undone.failureCause()));
      return;
    } catch (TransactionMisuseException misuse) {
      transport.misused(misuse);
      return;
    }
    // Not in the try block: sending may throw the handler's exception again, which is no failure
    // of the store.
    switch (settled) {
      case DONE, UNREFERRED -> send(answer, settled == Settled.DONE);
      case LOST, UNKNOWN -> refuse(Refusal.inProgress(engine.lease()));
      case ROLLED_BACK -> rolledBack(transport);
    }
  }

  private Settled record(Answer answer) {
    return answer.response().isPresent()
        ? engine.settler().complete(operation(), answer.response().get())
        : engine.settler().fail(operation(), answer.error(), answer::recordOfError);
  }

  private void send(Answer answer, boolean refers) {
    Claim claim = operation().claim();
    answer.send(claim.operationId(), claim.expires(), ReplayStatus.first(procedure, refers));
  }

  @Override
  void settleThrown(Answer thrown) {
    settleNow(thrown);
  }

  @Override
  void settleUnanswered() {
    engine.settler().giveUp(operation());
    if (operation().claim().transaction().isPresent()) {
      rolledBack(transport);
    } else {
      refuse(Refusal.inProgress(engine.lease()));
    }
  }

  @Override
  void rollBackUnanswered() {
    engine.giveUp(pending.orElseThrow(), call.events);
    rolledBack(transport);
  }

  /** Asks the client to retry: the answer is not recorded yet, or another owner has the key. */
  private void refuse(Refusal refusal) {
    call.refuse(refusal, Optional.of(operationId()), null);
  }

  @Override
  boolean isDeferred() {
    return deferred;
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
