package io.github.grpcidempotency.internal.runtime;

import com.google.protobuf.Message;
import com.google.rpc.Code;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.internal.decision.FailureDecider;
import io.github.grpcidempotency.internal.decision.Outcome;
import io.github.grpcidempotency.internal.decision.OutcomeDecider;
import io.github.grpcidempotency.internal.log.RateLimitedLog;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.FailurePhase;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.RecordedResponse;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles claims whose handler has ended, and lets their leases go. Thread-safe; blocks. */
public final class Settler {
  private static final Logger logger = LoggerFactory.getLogger(Settler.class);

  /** Codes by which a handler says that a check has failed, before it wrote anything anywhere. */
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

  /** What became of a response. */
  public enum Recording {
    /** It is recorded: send it. */
    DONE,
    /** It is another owner's answer that counts, or this one is recorded later: come again. */
    RETRY_LATER,
    /** Nothing of the call remains. */
    ROLLED_BACK,
    /** Nothing of the call remains, for the store could not do its part: come again. */
    UNAVAILABLE
  }

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
   * @throws TransactionMisuseException if the handler has misused the claim's transaction
   */
  public Recording complete(Claim claim, Message response) {
    Procedure procedure = claim.request().procedure();
    checkTransactionTaken(claim);
    RecordedOutcome outcome = RecordedResponse.of(claim, response);
    try {
      return switch (settle(claim, Settlement.COMPLETE, () -> claim.complete(outcome))) {
        case DONE -> Recording.DONE;
        case LOST -> Recording.RETRY_LATER;
        case ROLLED_BACK -> Recording.ROLLED_BACK;
      };
    } catch (StoreException unknown) {
      return onFailure(claim, outcome, unknown);
    } catch (TransactionMisuseException misuse) {
      leases.drop(claim);
      log.error(procedure.name() + " misuse", misuse, procedure.name() + ": misused");
      throw misuse;
    }
  }

  /**
   * Settles a failure as the procedure says. Never throws for a store that fails: the key is then
   * free once the lease ends.
   *
   * @param record makes the record of a terminal failure
   * @return whether the failure counts; if not, another owner has the key, and its outcome does
   */
  public boolean fail(Claim claim, Outcome.Failed failed, Supplier<RecordedOutcome> record) {
    Settlement settlement =
        OutcomeDecider.decide(failed, claim.request().procedure().failurePolicy());
    if (!CHECKS.contains(failed.code())) {
      checkTransactionTaken(claim);
    }
    try {
      Settled settled =
          switch (settlement) {
            case COMPLETE -> throw new AssertionError("a failure is not completed as a response");
            case COMPLETE_WITH_ERROR ->
                settle(claim, settlement, () -> claim.complete(record.get()));
            case RELEASE -> settle(claim, settlement, claim::release);
            case MARK_UNKNOWN -> settle(claim, settlement, claim::markUnknown);
          };
      return settled != Settled.LOST;
    } catch (StoreException | TransactionMisuseException unsettled) {
      leases.drop(claim);
      String procedure = claim.request().procedure().name();
      log.warn(
          procedure + " settle",
          unsettled,
          "%s: operation %s could not be settled; its key is free once the lease ends"
              .formatted(procedure, claim.operationId()));
      return true;
    }
  }

  /** A handler that writes past its transaction loses what the procedure promises. */
  private void checkTransactionTaken(Claim claim) {
    if (claim.transaction().isPresent() && !claim.transaction().get().isTaken()) {
      unprotected.notify(claim.request().procedure(), UnprotectedCause.TRANSACTION_NOT_TAKEN, null);
    }
  }

  /** The effect of a reservation has happened, so its record must follow; a commit decides both. */
  private Recording onFailure(Claim claim, RecordedOutcome outcome, StoreException failure) {
    if (claim.transaction().isEmpty()) {
      lateRecorder.record(claim, outcome, failure);
      return Recording.RETRY_LATER;
    }
    leases.drop(claim);
    String procedure = claim.request().procedure().name();
    boolean mayBeDone = FailureDecider.mayBeDone(failure.failureCause());
    log.warn(
        procedure + " commit " + failure.failureCause(),
        failure,
        "%s: operation %s %s"
            .formatted(
                procedure,
                claim.operationId(),
                mayBeDone
                    ? "may have been committed or not; a retry will tell"
                    : "could not be committed, and was rolled back"));
    return mayBeDone ? Recording.RETRY_LATER : Recording.UNAVAILABLE;
  }

  private Settled settle(Claim claim, Settlement settlement, Supplier<Settled> write) {
    Settled settled = write(write);
    leases.drop(claim);
    switch (settled) {
      case DONE ->
          listener.notify(
              events ->
                  events.settled(
                      claim.request().procedure().name(), claim.operationId(), settlement));
      case LOST -> {
        logger.warn("operation {} was taken over before it was settled", claim.operationId());
        listener.notify(events -> events.leaseLost(claim.operationId()));
      }
      case ROLLED_BACK -> logger.warn("operation {} was rolled back", claim.operationId());
    }
    return settled;
  }

  /** A defect of the store is an outage to us: nothing is known of the deed. */
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
