package io.github.grpcidempotency.call.internal;

import com.google.rpc.Code;
import io.github.grpcidempotency.internal.context.OperationContext;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.engine.Engine;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.StoreTransaction;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A run of a transactional procedure without a key. Its handler gets a plain transaction, so the
 * same handler works with and without a key. The transaction is committed before the answer is
 * sent.
 */
public final class UnkeyedRun extends Run {
  private static final Logger logger = LoggerFactory.getLogger(UnkeyedRun.class);

  private final StoreTransaction transaction;

  private UnkeyedRun(
      Transport transport, Engine engine, Procedure procedure, StoreTransaction transaction) {
    super(transport, engine, procedure, OperationContext.of(transaction));
    this.transaction = transaction;
  }

  /**
   * Opens a transaction and runs the handler. Refuses the call if the store is unavailable, or the
   * caller has no shard.
   */
  public static void start(
      Transport transport, Optional<Engine> shard, Procedure procedure, Optional<Caller> caller) {
    if (shard.isEmpty()) {
      transport.refuse(Refusal.noShard(), "no key");
      return;
    }
    Engine engine = shard.get();
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
      unavailable(transport, unreachable);
      return;
    }
    owning(() -> new UnkeyedRun(transport, engine, procedure, transaction), transaction::close)
        .start();
  }

  @Override
  Runnable settle(Answer answer) {
    if (answer.response().isPresent()) {
      return commit(answer);
    }
    transaction.rollback();
    return answer::sendUnrecorded;
  }

  private Runnable commit(Answer answer) {
    try {
      return transaction.commit() == Settled.DONE ? answer::sendUnrecorded : rolledBack(transport);
    } catch (TransactionMisuseException misuse) {
      logger.error("{}: {}", procedure.name(), misuse.getMessage(), misuse);
      return () -> transport.misused(misuse);
    } catch (StoreException failure) {
      log.warn(
          procedure.name() + " commit",
          failure,
          procedure.name() + ": the transaction of a call without a key could not be committed");
      return failure.failureCause().mayBeDone()
          ? answerOfDefect()
          : () -> unavailable(transport, failure);
    }
  }

  @Override
  Runnable answerOfDefect() {
    return () ->
        transport.fail(Code.UNKNOWN, "it is unknown whether the transaction was committed");
  }

  private static void unavailable(Transport transport, StoreException failure) {
    transport.refuse(Refusal.storeUnavailable(failure.failureCause()), "no key");
  }

  @Override
  Runnable settleUnanswered() {
    transaction.close();
    return rolledBack(transport);
  }

  @Override
  public void close() {
    transaction.close();
  }

  @Override
  public boolean isAwaited() {
    return false;
  }

  @Override
  public String subject() {
    return "a call without a key";
  }

  @Override
  public String consequence() {
    return rollback();
  }
}
