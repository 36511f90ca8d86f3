package io.github.grpcidempotency.internal.runtime;

import com.google.protobuf.Message;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.internal.decision.HandlerError;
import io.github.grpcidempotency.internal.decision.OutcomeDecider;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.FailurePhase;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.StoreTransaction;
import io.github.grpcidempotency.store.TransactionMisuseException;
import io.github.grpcidempotency.store.support.RateLimitedLog;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles claims whose handler has ended, and stops renewing their leases. Thread-safe; blocks. */
public final class Settler {
  private static final Logger logger = LoggerFactory.getLogger(Settler.class);

  private final RateLimitedLog log = RateLimitedLog.of(logger);
  private final LeaseKeeper leases;
  private final LateSettler late;

  Settler(LeaseKeeper leases, LateSettler late) {
    this.leases = leases;
    this.late = late;
  }

  /**
   * Records a response.
   *
   * @return {@code DONE} if the response is recorded and may be sent; {@code UNREFERRED} if, in
   *     addition, the record refers to no resource although the procedure has one; {@code LOST} if
   *     another owner's answer counts, or this answer is recorded later; {@code UNKNOWN} if it is
   *     unknown what was committed; {@code ROLLED_BACK} if the call has no effect
   * @throws StoreException if the call has no effect, because the store failed
   */
  public Settled complete(Operation operation, Message response) {
    operation.handlerEnded();
    RecordedOutcome answer = recordable(operation, operation.answerOf(response));
    try {
      return settle(operation, Settlement.COMPLETE, () -> answer);
    } catch (StoreException failure) {
      return onFailure(operation, answer, failure);
    } catch (TransactionMisuseException misuse) {
      leases.drop(operation.claim());
      failed(operation, Settlement.COMPLETE, misuse, false);
      throw misuse;
    } finally {
      checkTransactionTaken(operation);
      checkTransactionAlone(operation);
    }
  }

  /**
   * Returns an answer that is small enough to be recorded. The effect of a reserved call has
   * happened, so a record without the response prevents a retry from running the handler again. The
   * transaction of a transactional call is rolled back instead.
   */
  private RecordedOutcome recordable(Operation operation, RecordedOutcome answer) {
    Optional<String> tooLarge = operation.tooLarge(answer);
    if (tooLarge.isEmpty() || operation.claim().transaction().isPresent()) {
      return answer;
    }
    log.warn(
        operation.procedure().name() + " too large",
        null,
        "%s. Retries of operation %s are refused"
            .formatted(tooLarge.get(), operation.claim().operationId()));
    return new RecordedOutcome.Reference(answer.resourceId());
  }

  /**
   * Settles a failure according to the procedure's failure policy. Never throws if the store fails:
   * the key is then free once the lease ends, or earlier if the policy releases it and the store
   * recovers.
   *
   * @param record returns the record of a terminal failure
   * @return {@code LOST} if the failure does not count, because another owner has the key;
   *     otherwise {@code DONE}
   */
  public Settled fail(Operation operation, HandlerError failed, Supplier<RecordedOutcome> record) {
    operation.handlerEnded();
    Claim claim = operation.claim();
    boolean committed = claim.hasCommitted();
    Settlement settlement =
        OutcomeDecider.decide(failed, operation.procedure().failurePolicy(), committed);
    if (committed && settlement == Settlement.MARK_UNKNOWN) {
      operation.events().unprotected(UnprotectedCause.COMMITTED_WITH_ERROR, null);
    }
    try {
      Settled settled = settle(operation, settlement, record);
      return settled == Settled.LOST ? settled : Settled.DONE;
    } catch (StoreException | TransactionMisuseException unsettled) {
      leases.drop(claim);
      failed(operation, settlement, unsettled, false);
      if (settlement == Settlement.RELEASE && claim.transaction().isEmpty()) {
        late.release(operation);
      }
      return Settled.DONE;
    } finally {
      checkTransactionAlone(operation);
    }
  }

  /**
   * Ends an operation whose handler has not answered in time. A transaction is rolled back. The
   * outcome of a reservation is unknown, and its lease is no longer renewed. Never throws if the
   * store fails.
   */
  public void giveUp(Operation operation) {
    operation.handlerEnded();
    Claim claim = operation.claim();
    leases.drop(claim);
    try {
      if (claim.transaction().isEmpty()) {
        Settled unused = settle(operation, Settlement.MARK_UNKNOWN, Settler::nothing);
        return;
      }
      Settled unused = settleClaim(operation, Settlement.MARK_UNKNOWN, Settler::nothing);
      failed(operation, Settlement.MARK_UNKNOWN, null, true);
    } catch (StoreException | TransactionMisuseException unsettled) {
      failed(operation, Settlement.MARK_UNKNOWN, unsettled, false);
    }
    checkTransactionAlone(operation);
  }

  /**
   * Reports a handler that answered without its transaction, so that its effect and its record are
   * not one commit.
   */
  private void checkTransactionTaken(Operation operation) {
    if (operation.claim().transaction().filter(open -> !open.isTaken()).isPresent()) {
      operation.events().unprotected(UnprotectedCause.TRANSACTION_NOT_TAKEN, null);
    }
  }

  /**
   * Reports another transaction that ran in addition to the claim's transaction, because its writes
   * are not rolled back with it.
   */
  private void checkTransactionAlone(Operation operation) {
    if (operation.claim().transaction().filter(StoreTransaction::wasSuspended).isPresent()) {
      operation.events().unprotected(UnprotectedCause.TRANSACTION_SUSPENDED, null);
    }
  }

  /**
   * Handles a store failure. The effect of a reserved call has happened, so its answer is recorded
   * later. For a transactional call, one commit decides on effect and record.
   */
  private Settled onFailure(Operation operation, RecordedOutcome answer, StoreException failure) {
    Claim claim = operation.claim();
    if (claim.transaction().isEmpty()) {
      late.record(operation, answer, failure);
      return Settled.LOST;
    }
    leases.drop(claim);
    boolean rolledBack = !failure.failureCause().mayBeDone();
    failed(operation, Settlement.COMPLETE, failure, rolledBack);
    if (rolledBack) {
      throw failure;
    }
    return Settled.LOST;
  }

  private Settled settle(
      Operation operation, Settlement settlement, Supplier<RecordedOutcome> answer) {
    long begun = System.nanoTime();
    Settled settled = settleClaim(operation, settlement, answer);
    Duration took = Duration.ofNanos(System.nanoTime() - begun);
    Claim claim = operation.claim();
    leases.drop(claim);
    switch (settled) {
      case DONE, UNREFERRED ->
          operation
              .events()
              .settled(claim.operationId(), settlement, operation.handlerTime(), took);
      case LOST -> operation.leaseLost();
      case ROLLED_BACK -> failed(operation, settlement, null, true);
      case UNKNOWN -> failed(operation, settlement, null, false);
    }
    return settled;
  }

  /**
   * Settles the claim of an operation.
   *
   * @param answer returns the answer to record, not encrypted; called only if there is one
   */
  static Settled settleClaim(
      Operation operation, Settlement settlement, Supplier<RecordedOutcome> answer) {
    operation.settling = true;
    try {
      return switch (settlement) {
        case COMPLETE, COMPLETE_WITH_ERROR -> complete(operation, answer.get());
        case RELEASE -> operation.claim().release();
        case MARK_UNKNOWN -> operation.claim().markUnknown();
      };
    } catch (StoreException | TransactionMisuseException foreseen) {
      throw foreseen;
    } catch (RuntimeException | Error defect) {
      throw new StoreException(
          "the store threw an unexpected exception",
          defect,
          FailurePhase.HANDLER_DONE,
          FailureCause.OTHER);
    } finally {
      operation.settling = false;
    }
  }

  /**
   * Records an answer. If the handler's own transaction should have recorded the answer but was
   * rolled back, the key is released.
   */
  private static Settled complete(Operation operation, RecordedOutcome answer) {
    Claim claim = operation.claim();
    Optional<String> tooLarge = operation.tooLarge(answer);
    if (tooLarge.isPresent()) {
      Settled unused = claim.release();
      throw new TransactionMisuseException(tooLarge.get());
    }
    RecordedOutcome kept;
    try {
      kept = operation.seal(answer);
    } catch (StoreException unsealed) {
      // The answer of a reservation is recorded later. A transaction must not stay open until then.
      claim.transaction().ifPresent(open -> open.rollback());
      throw unsealed;
    }
    Settled settled = claim.complete(kept);
    if (settled == Settled.ROLLED_BACK && claim.transaction().isEmpty()) {
      releaseQuietly(claim);
    }
    return settled == Settled.DONE && lacksResource(operation, answer)
        ? Settled.UNREFERRED
        : settled;
  }

  private static boolean lacksResource(Operation operation, RecordedOutcome answer) {
    return operation.procedure().resourceType().isPresent()
        && !(answer instanceof RecordedOutcome.Failure)
        && answer.resourceId().isEmpty();
  }

  /**
   * Releases the claim of an operation whose effect was rolled back. A failure does no harm,
   * because the lease ends by itself.
   */
  private static void releaseQuietly(Claim claim) {
    try {
      Settled unused = claim.release();
    } catch (RuntimeException leaseEnds) {
      logger.debug(
          "could not release operation {}; its key stays reserved until the lease ends",
          claim.operationId(),
          leaseEnds);
    }
  }

  private static void failed(
      Operation operation,
      Settlement settlement,
      @Nullable Throwable unsettled,
      boolean rolledBack) {
    operation
        .events()
        .settlementFailed(operation.claim().operationId(), settlement, unsettled, rolledBack);
  }

  private static RecordedOutcome nothing() {
    throw new AssertionError("no answer is recorded");
  }
}
