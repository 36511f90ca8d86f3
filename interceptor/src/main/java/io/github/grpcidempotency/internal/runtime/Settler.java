package io.github.grpcidempotency.internal.runtime;

import com.google.protobuf.Message;
import com.google.rpc.Code;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.internal.decision.FailureDecider;
import io.github.grpcidempotency.internal.decision.Outcome;
import io.github.grpcidempotency.internal.decision.OutcomeDecider;
import io.github.grpcidempotency.internal.log.RateLimitedLog;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.FailurePhase;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles claims whose handler has ended, and stops renewing their leases. Thread-safe; blocks. */
public final class Settler {
  private static final Logger logger = LoggerFactory.getLogger(Settler.class);

  /** Codes with which a handler reports a failed check, before it has written anything anywhere. */
  private static final Set<Code> CHECKS =
      Set.of(
          Code.INVALID_ARGUMENT,
          Code.NOT_FOUND,
          Code.ALREADY_EXISTS,
          Code.PERMISSION_DENIED,
          Code.FAILED_PRECONDITION,
          Code.OUT_OF_RANGE,
          Code.UNAUTHENTICATED);

  private final LeaseKeeper leases;
  private final LateRecorder lateRecorder;
  private final SafeListener listener;
  private final UnprotectedCalls unprotected;
  private final RateLimitedLog log;

  Settler(
      LeaseKeeper leases,
      LateRecorder lateRecorder,
      SafeListener listener,
      UnprotectedCalls unprotected,
      RateLimitedLog log) {
    this.leases = leases;
    this.lateRecorder = lateRecorder;
    this.listener = listener;
    this.unprotected = unprotected;
    this.log = log;
  }

  /**
   * Records a response.
   *
   * @return {@code DONE} if it is recorded and may be sent; {@code LOST} if another owner's answer
   *     counts, or this one is recorded later; {@code ROLLED_BACK} if nothing of the call remains
   * @throws StoreException if nothing of the call remains, because the store could not do its part
   * @throws TransactionMisuseException if the handler has misused the claim's transaction
   */
  public Settled complete(Operation operation, Message response) {
    checkTransactionTaken(operation);
    RecordedOutcome answer = operation.answerOf(response);
    try {
      return settle(operation, Settlement.COMPLETE, () -> operation.complete(answer));
    } catch (StoreException failure) {
      return onFailure(operation, answer, failure);
    } catch (TransactionMisuseException misuse) {
      leases.drop(operation.claim());
      String procedure = operation.procedure().name();
      log.error(procedure + " misuse", misuse, procedure + ": misused");
      throw misuse;
    }
  }

  /**
   * Settles a failure as the procedure says. Never throws if the store fails: the key is then free
   * once the lease ends.
   *
   * @param record makes the record of a terminal failure
   * @return whether the failure counts; if not, another owner has the key, and its outcome does
   */
  public boolean fail(
      Operation operation, Outcome.Failed failed, Supplier<RecordedOutcome> record) {
    Settlement settlement = OutcomeDecider.decide(failed, operation.procedure().failurePolicy());
    Claim claim = operation.claim();
    if (!CHECKS.contains(failed.code())) {
      checkTransactionTaken(operation);
    }
    try {
      Settled settled =
          switch (settlement) {
            case COMPLETE -> throw new AssertionError("a failure is not completed as a response");
            case COMPLETE_WITH_ERROR ->
                settle(operation, settlement, () -> operation.complete(record.get()));
            case RELEASE -> settle(operation, settlement, claim::release);
            case MARK_UNKNOWN -> settle(operation, settlement, claim::markUnknown);
          };
      return settled != Settled.LOST;
    } catch (StoreException | TransactionMisuseException unsettled) {
      leases.drop(claim);
      String procedure = operation.procedure().name();
      log.warn(
          procedure + " settle",
          unsettled,
          "%s: operation %s could not be settled; its key is free once the lease ends"
              .formatted(procedure, claim.operationId()));
      return true;
    }
  }

  /**
   * Reports a handler that writes past its transaction, and so loses what the procedure promises.
   */
  private void checkTransactionTaken(Operation operation) {
    if (operation.claim().transaction().filter(open -> !open.isTaken()).isPresent()) {
      unprotected.notify(operation.procedure(), UnprotectedCause.TRANSACTION_NOT_TAKEN, null);
    }
  }

  /**
   * With a reservation, the effect has happened, so its record must follow. A commit decides both.
   */
  private Settled onFailure(Operation operation, RecordedOutcome answer, StoreException failure) {
    Claim claim = operation.claim();
    if (claim.transaction().isEmpty()) {
      lateRecorder.record(operation, answer, failure);
      return Settled.LOST;
    }
    leases.drop(claim);
    String procedure = operation.procedure().name();
    boolean mayBeDone = FailureDecider.mayBeDone(failure.failureCause());
    log.warn(
        procedure + " commit " + failure.failureCause(),
        failure,
        "%s: operation %s %s"
            .formatted(
                procedure,
                claim.operationId(),
                mayBeDone
                    ? "may or may not have been committed; a retry will find out"
                    : "could not be committed, and was rolled back"));
    if (!mayBeDone) {
      throw failure;
    }
    return Settled.LOST;
  }

  private Settled settle(Operation operation, Settlement settlement, Supplier<Settled> write) {
    Settled settled = write(write);
    Claim claim = operation.claim();
    leases.drop(claim);
    switch (settled) {
      case DONE ->
          listener.notify(
              events ->
                  events.settled(operation.procedure().name(), claim.operationId(), settlement));
      case LOST -> {
        logger.warn("operation {} was taken over before it was settled", claim.operationId());
        listener.notify(events -> events.leaseLost(claim.operationId()));
      }
      case ROLLED_BACK -> logger.warn("operation {} was rolled back", claim.operationId());
    }
    return settled;
  }

  /** Treats a defect of the store as an outage: it is not known whether the write was done. */
  private static Settled write(Supplier<Settled> write) {
    try {
      return write.get();
    } catch (StoreException | TransactionMisuseException foreseen) {
      throw foreseen;
    } catch (RuntimeException | Error defect) {
      throw new StoreException(
          "the store has a defect", defect, FailurePhase.HANDLER_DONE, FailureCause.OTHER);
    }
  }
}
