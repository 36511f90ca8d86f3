package io.github.grpcidempotency.runtime;

import com.google.protobuf.Message;
import io.github.grpcidempotency.decision.Outcome;
import io.github.grpcidempotency.decision.OutcomeDecider;
import io.github.grpcidempotency.decision.Settlement;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.RecordedFields;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.StoreException;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles claims whose handler has ended, and lets their leases go. Thread-safe; blocks. */
public final class Settler {
  private static final Logger logger = LoggerFactory.getLogger(Settler.class);

  private final LeaseKeeper leases;
  private final LateRecorder lateRecorder;
  private final SafeListener listener;

  /** What became of a response. */
  public enum Recording {
    /** It is recorded: send it. */
    DONE,
    /** It is another owner's answer that counts, or this one is recorded later: come again. */
    COME_AGAIN,
    /** Nothing of the call remains. */
    ROLLED_BACK
  }

  Settler(LeaseKeeper leases, LateRecorder lateRecorder, SafeListener listener) {
    this.leases = leases;
    this.lateRecorder = lateRecorder;
    this.listener = listener;
  }

  /**
   * Records a response.
   *
   * @throws IllegalStateException if the handler has misused the claim's transaction
   */
  public Recording complete(Claim claim, Message response) {
    Procedure procedure = claim.request().procedure();
    RecordedOutcome outcome =
        new RecordedOutcome.Response(
            RecordedFields.of(procedure, response).toByteString(), resourceId(claim, response));
    try {
      return switch (settle(claim, Settlement.COMPLETE, () -> claim.complete(outcome))) {
        case DONE -> Recording.DONE;
        case LOST -> Recording.COME_AGAIN;
        case ROLLED_BACK -> Recording.ROLLED_BACK;
      };
    } catch (StoreException unknown) {
      onUnknown(claim, outcome, unknown);
      return Recording.COME_AGAIN;
    } catch (IllegalStateException misuse) {
      leases.drop(claim);
      logger.error("{}: {}", procedure.name(), misuse.getMessage(), misuse);
      throw misuse;
    }
  }

  /**
   * Settles a failure as the procedure says. Never throws for a store out of reach: the key is then
   * free once the lease ends.
   *
   * @param record makes the record of a terminal failure
   */
  public void fail(Claim claim, Outcome.Failed failed, Supplier<RecordedOutcome> record) {
    Settlement settlement =
        OutcomeDecider.decide(failed, claim.request().procedure().failurePolicy());
    try {
      Settled unused =
          switch (settlement) {
            case COMPLETE -> throw new AssertionError("a failure is not completed as a response");
            case COMPLETE_WITH_ERROR ->
                settle(claim, settlement, () -> claim.complete(record.get()));
            case RELEASE -> settle(claim, settlement, claim::release);
            case HOLD -> settle(claim, settlement, claim::hold);
          };
    } catch (StoreException | IllegalStateException unsettled) {
      leases.drop(claim);
      logger.warn(
          "could not settle operation {}; its key is free once the lease ends",
          claim.operationId(),
          unsettled);
    }
  }

  /** The effect of a reservation has happened, so its record must follow; a commit decides both. */
  private void onUnknown(Claim claim, RecordedOutcome outcome, StoreException unknown) {
    if (claim.transaction().isPresent()) {
      leases.drop(claim);
      logger.warn(
          "it is not known whether operation {} was committed; a retry will tell",
          claim.operationId(),
          unknown);
    } else {
      lateRecorder.record(claim, outcome, unknown);
    }
  }

  private Settled settle(Claim claim, Settlement settlement, Supplier<Settled> write) {
    Settled settled = write(write);
    leases.drop(claim);
    switch (settled) {
      case DONE ->
          listener.tell(
              events ->
                  events.settled(
                      claim.request().procedure().name(), claim.operationId(), settlement));
      case LOST -> {
        logger.warn("operation {} was taken over before it was settled", claim.operationId());
        listener.tell(events -> events.leaseLost(claim.operationId()));
      }
      case ROLLED_BACK -> logger.warn("operation {} was rolled back", claim.operationId());
    }
    return settled;
  }

  /** A defect of the store is an outage to us: nothing is known of the deed. */
  private static Settled write(Supplier<Settled> write) {
    try {
      return write.get();
    } catch (StoreException | IllegalStateException foreseen) {
      throw foreseen;
    } catch (RuntimeException defect) {
      throw new StoreException("the store has a defect", defect);
    }
  }

  private static Optional<UUID> resourceId(Claim claim, Message response) {
    Procedure procedure = claim.request().procedure();
    try {
      return procedure.resourceId(response);
    } catch (RuntimeException wrong) {
      logger.error(
          "{}: the response names no resource; operation {} is recorded without one",
          procedure.name(),
          claim.operationId(),
          wrong);
      return Optional.empty();
    }
  }
}
