package io.github.grpcidempotency.internal.settling;

import com.google.protobuf.Message;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.internal.decision.HandlerError;
import io.github.grpcidempotency.internal.decision.OutcomeDecider;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.StoreTransaction;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles claims whose handler has ended, and stops renewing their leases. Thread-safe; blocks. */
public final class Settler {
  private static final Logger logger = LoggerFactory.getLogger(Settler.class);

  private final RateLimitedLog log = RateLimitedLog.of(logger);
  private final LateSettler late;

  public Settler(LateSettler late) {
    this.late = late;
  }

  /**
   * Records a response.
   *
   * @return {@code DONE} if the response is recorded and may be sent; {@code UNREFERRED} if, in
   *     addition, the record refers to no resource although the procedure has one; {@code LOST} if
   *     another owner's answer counts, or this answer is recorded later; {@code PREEMPTED} if the
   *     call must start over; {@code ROLLED_BACK} if the call has no effect
   * @throws StoreException if the call has no effect, because the store failed
   */
  public Settled complete(OwnedClaim operation, Message response) {
    try (operation) {
      operation.handlerEnded();
      boolean preempted = false;
      try {
        Settled settled = persist(operation, Settlement.COMPLETE, recordable(operation, response));
        preempted = settled == Settled.PREEMPTED;
        return settled;
      } finally {
        if (!preempted) {
          checkTransactionTaken(operation);
        }
        checkTransactionAlone(operation);
      }
    }
  }

  /**
   * Returns the record of a response. The effect of a reserved call has happened, so if the
   * response cannot be recorded, a record without it prevents a retry from running the handler
   * again. The transaction of a transactional call is rolled back instead.
   */
  private RecordedOutcome recordable(OwnedClaim operation, Message response) {
    try {
      return operation.recordOf(response);
    } catch (OwnedClaim.UnrecordableException refused) {
      Claim claim = operation.claim();
      String why = String.valueOf(refused.getMessage());
      if (claim.transaction().isPresent()) {
        claim.transaction().get().rollback();
        TransactionMisuseException misuse = new TransactionMisuseException(why);
        end(operation, Settlement.COMPLETE, misuse, true);
        throw misuse;
      }
      log.warn(
          operation.procedure().name() + " unrecordable",
          refused.getCause(),
          "%s. Retries of operation %s are refused".formatted(why, claim.operationId()));
      return new RecordedOutcome.Reference(refused.resource());
    }
  }

  /**
   * Settles a failure according to the procedure's failure policy. If an error that is to be
   * recorded cannot be recorded, the result is that of {@link #complete}. If another settlement
   * fails, the key is free once the lease ends, or earlier if the policy releases it and the store
   * recovers.
   *
   * @param record returns the record of a terminal failure
   * @return {@code DONE} if the error may be sent; otherwise as of {@link #complete}
   * @throws StoreException if a terminal error could not be recorded, and the call has no effect
   */
  public Settled fail(OwnedClaim operation, HandlerError failed, Supplier<RecordedOutcome> record) {
    try (operation) {
      operation.handlerEnded();
      Settlement settlement = OutcomeDecider.decide(failed, operation.procedure().failurePolicy());
      try {
        return settlement == Settlement.COMPLETE_WITH_ERROR
            ? persist(operation, settlement, record.get())
            : free(operation, settlement);
      } finally {
        checkTransactionAlone(operation);
      }
    }
  }

  /**
   * Releases a key, or marks its outcome as unknown. The handler's error is sent if that fails,
   * unless another call's effect may be the reason for the error.
   */
  private Settled free(OwnedClaim operation, Settlement settlement) {
    Claim claim = operation.claim();
    try {
      Settled settled =
          settle(
              operation,
              settlement,
              settlement == Settlement.RELEASE ? claim::release : claim::markUnknown);
      return settled == Settled.LOST || settled == Settled.PREEMPTED ? settled : Settled.DONE;
    } catch (StoreException | TransactionMisuseException unsettled) {
      if (claim.isOptimistic()) {
        logger.debug("operation {} may have another owner", claim.operationId(), unsettled);
        operation.end();
        return Settled.PREEMPTED;
      }
      end(operation, settlement, unsettled, false);
      if (settlement == Settlement.RELEASE && claim.transaction().isEmpty()) {
        late.release(operation);
      }
      return Settled.DONE;
    }
  }

  /**
   * Ends an operation whose handler has not answered in time. A transaction is closed, or rolled
   * back if it is bound to the current thread. The outcome of a reservation is unknown, and its
   * lease is no longer renewed. Never throws if the store fails.
   */
  public void giveUp(OwnedClaim operation, boolean bound) {
    try (operation) {
      operation.handlerEnded();
      if (operation.claim().transaction().isEmpty()) {
        free(operation, Settlement.MARK_UNKNOWN);
        return;
      }
      Optional<RuntimeException> unsettled = bound ? rollBack(operation) : Optional.empty();
      end(operation, Settlement.MARK_UNKNOWN, unsettled.orElse(null), unsettled.isEmpty());
      checkTransactionAlone(operation);
    }
  }

  private static Optional<RuntimeException> rollBack(OwnedClaim operation) {
    try {
      onClaim(operation, operation.claim()::markUnknown);
      return Optional.empty();
    } catch (StoreException | TransactionMisuseException unsettled) {
      return Optional.of(unsettled);
    }
  }

  /**
   * Reports a handler that answered without its transaction, so that its effect and its record are
   * not one commit.
   */
  private void checkTransactionTaken(OwnedClaim operation) {
    if (operation.claim().transaction().filter(open -> !open.isTaken()).isPresent()) {
      operation.events().unprotected(UnprotectedCause.TRANSACTION_NOT_TAKEN, null);
    }
  }

  /**
   * Reports another transaction that ran in addition to the claim's transaction, because its writes
   * are not rolled back with it.
   */
  private void checkTransactionAlone(OwnedClaim operation) {
    if (operation.claim().transaction().filter(StoreTransaction::wasSuspended).isPresent()) {
      operation.events().unprotected(UnprotectedCause.TRANSACTION_SUSPENDED, null);
    }
  }

  /**
   * Records an answer. If the store fails, the effect of a reserved call has happened, so its
   * answer is recorded later. For a transactional call, one commit decides on effect and record.
   */
  private Settled persist(OwnedClaim operation, Settlement settlement, RecordedOutcome answer) {
    try {
      return settle(operation, settlement, () -> record(operation, answer));
    } catch (StoreException failure) {
      if (operation.claim().transaction().isEmpty()) {
        late.record(operation, answer, failure);
        return Settled.LOST;
      }
      boolean rolledBack = !failure.failureCause().mayBeDone();
      end(operation, settlement, failure, rolledBack);
      if (rolledBack) {
        throw failure;
      }
      return Settled.LOST;
    } catch (TransactionMisuseException misuse) {
      end(operation, settlement, misuse, false);
      throw misuse;
    }
  }

  private Settled settle(
      OwnedClaim operation, Settlement settlement, Supplier<Settled> statements) {
    long begun = System.nanoTime();
    Settled settled = onClaim(operation, statements);
    Duration took = Duration.ofNanos(System.nanoTime() - begun);
    UUID id = operation.claim().operationId();
    operation.end();
    switch (settled) {
      case DONE, UNREFERRED -> {
        if (operation.claim().isOptimistic()) {
          operation.events().claimed(operation.claim(), Duration.ZERO);
        }
        operation.events().settled(id, settlement, operation.handlerTime(), took);
      }
      case PREEMPTED -> logger.debug("operation {} was preempted: its call starts over", id);
      case LOST -> operation.leaseLost();
      case ROLLED_BACK -> operation.events().settlementFailed(id, settlement, null, true);
    }
    return settled;
  }

  /** Settles a claim, and turns every unexpected exception into a {@link StoreException}. */
  private static Settled onClaim(OwnedClaim operation, Supplier<Settled> statements) {
    operation.settling = true;
    try {
      return statements.get();
    } catch (StoreException | TransactionMisuseException foreseen) {
      throw foreseen;
    } catch (RuntimeException | Error defect) {
      throw StoreException.of(
              FailurePhase.HANDLER_DONE,
              FailureCause.OTHER,
              "the store threw an unexpected exception")
          .initCause(defect);
    } finally {
      operation.settling = false;
    }
  }

  /**
   * Records an answer. If the handler's own transaction should have recorded the answer but was
   * rolled back, the key is released.
   *
   * @param answer the answer, not encrypted
   */
  static Settled record(OwnedClaim operation, RecordedOutcome answer) {
    return onClaim(
        operation,
        () -> {
          Claim claim = operation.claim();
          Settled settled = claim.complete(operation.seal(answer));
          if (settled == Settled.ROLLED_BACK && claim.transaction().isEmpty()) {
            releaseQuietly(claim);
          }
          return settled == Settled.DONE && lacksResource(operation, answer)
              ? Settled.UNREFERRED
              : settled;
        });
  }

  private static boolean lacksResource(OwnedClaim operation, RecordedOutcome answer) {
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
      claim.release();
    } catch (Throwable leaseEnds) {
      logger.debug(
          "could not release operation {}; its key stays reserved until the lease ends",
          claim.operationId(),
          leaseEnds);
    }
  }

  /**
   * Ends an operation that is not settled, and reports it.
   *
   * @param rolledBack whether it is known that the claim's transaction was rolled back
   */
  private static void end(
      OwnedClaim operation,
      Settlement settlement,
      @Nullable Throwable unsettled,
      boolean rolledBack) {
    operation.end();
    operation
        .events()
        .settlementFailed(operation.claim().operationId(), settlement, unsettled, rolledBack);
  }
}
