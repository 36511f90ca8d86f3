package io.github.grpcidempotency.internal.event;

import io.github.grpcidempotency.event.ExtractionFailure;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.store.StoreException;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.event.Level;

/**
 * The log line of an event.
 *
 * <ul>
 *   <li>Debug: ordinary events, such as claims, replays and waits.
 *   <li>Info: events that may be of interest later, such as takeovers, late recordings and mistakes
 *       of clients.
 *   <li>Warning: the guarantee is lost, or a client is affected.
 *   <li>Error: an operator has to act.
 * </ul>
 *
 * @param decision the kind of event
 * @param reason the reason, from a small set of names
 * @param cause a further detail
 * @param source the key source, unless it is the source of the call's key
 * @param words the message
 */
record DecisionLine(
    Level level,
    String decision,
    Optional<String> reason,
    Optional<String> cause,
    Optional<String> source,
    Optional<UUID> operationId,
    String words) {

  /**
   * Returns the line; empty for an event that is covered by another line.
   *
   * @param failed whether the event was caused by a failure
   */
  static Optional<DecisionLine> of(IdempotencyEvent event, boolean failed) {
    Writer writer = new Writer(failed);
    event.accept(writer);
    return writer.line;
  }

  private static DecisionLine of(
      Level level, String decision, Optional<UUID> operationId, String words) {
    return new DecisionLine(
        level, decision, Optional.empty(), Optional.empty(), Optional.empty(), operationId, words);
  }

  private DecisionLine because(Object of) {
    return new DecisionLine(
        level, decision, Optional.of(of.toString()), cause, source, operationId, words);
  }

  private DecisionLine causedBy(Optional<String> word) {
    return new DecisionLine(level, decision, reason, word, source, operationId, words);
  }

  private DecisionLine from(String place) {
    return new DecisionLine(level, decision, reason, cause, Optional.of(place), operationId, words);
  }

  /** Creates the line of each kind of event of a call. */
  private static final class Writer implements IdempotencyListener {
    private final boolean failed;
    private Optional<DecisionLine> line = Optional.empty();

    Writer(boolean failed) {
      this.failed = failed;
    }

    /**
     * An unauthenticated key is only a debug line, because the refusal of the call is logged too.
     */
    @Override
    public void extractionFailed(IdempotencyEvent.ExtractionFailed event) {
      Level level =
          switch (event.failure()) {
            case UNAUTHENTICATED -> Level.DEBUG;
            case UNAVAILABLE -> Level.WARN;
            case DEFECT -> Level.ERROR;
          };
      String words =
          event.failure() == ExtractionFailure.UNAUTHENTICATED
              ? "the sender cannot prove that the key is theirs"
              : "the key could not be looked up";
      write(
          of(level, "extraction_failed", Optional.empty(), words)
              .because(event.failure())
              .from(event.source()));
    }

    @Override
    public void keyInvalid(IdempotencyEvent.KeyInvalid event) {
      write(
          of(
                  Level.INFO,
                  "key_invalid",
                  Optional.empty(),
                  "the key is malformed: " + event.problem().explanation())
              .because(event.problem())
              .from(event.source()));
    }

    @Override
    public void claimed(IdempotencyEvent.Claimed event) {
      write(
          event.takeover()
              ? of(
                  Level.INFO,
                  "takeover",
                  Optional.of(event.operationId()),
                  "run %d takes over from %s, whose lease has ended"
                      .formatted(event.attempt(), event.takenOverFrom().orElse("an owner")))
              : of(Level.DEBUG, "claim", Optional.of(event.operationId()), "the key is claimed"));
    }

    @Override
    public void replayed(IdempotencyEvent.Replayed event) {
      write(
          of(
              Level.DEBUG,
              "replay",
              Optional.of(event.operationId()),
              "the recorded outcome is replayed"));
    }

    @Override
    public void attached(IdempotencyEvent.Attached event) {
      write(
          of(
              Level.DEBUG,
              "attach",
              Optional.empty(),
              "the call waits for the call that holds its key"));
    }

    @Override
    public void waitEnded(IdempotencyEvent.WaitEnded event) {
      write(
          of(
                  Level.DEBUG,
                  "wait_end",
                  Optional.empty(),
                  "the call waited for " + event.waited().toMillis() + " ms")
              .because(event.end()));
    }

    @Override
    public void refused(IdempotencyEvent.Refused event) {
      write(
          of(levelOf(event), "refuse", event.operationId(), refusal(event))
              .because(event.reason())
              .causedBy(event.detail()));
    }

    private static String refusal(IdempotencyEvent.Refused event) {
      String advice =
          event.reason() == RefusalReason.IDEMPOTENCY_CALLER_REQUIRED
              ? "; check that authentication runs before the idempotency interceptor"
              : "";
      return "the call is refused: " + event.reason() + advice;
    }

    private Level levelOf(IdempotencyEvent.Refused event) {
      Level level = levelOf(event.reason(), event.operationId());
      return failed && level != Level.ERROR ? Level.WARN : level;
    }

    /** A refusal for which another line was written is only a debug line. */
    private static Level levelOf(RefusalReason reason, Optional<UUID> operationId) {
      return switch (reason) {
        case IDEMPOTENCY_KEY_INVALID,
            IDEMPOTENCY_IN_PROGRESS,
            IDEMPOTENCY_KEY_UNKNOWN,
            IDEMPOTENCY_OPERATION_UNKNOWN,
            IDEMPOTENCY_OPERATION_UNFINISHED ->
            Level.DEBUG;
        case IDEMPOTENCY_KEY_REQUIRED,
            IDEMPOTENCY_KEY_PROHIBITED,
            IDEMPOTENCY_CALLER_REQUIRED,
            IDEMPOTENCY_REPLAY_DENIED,
            IDEMPOTENCY_RESOURCE_GONE,
            IDEMPOTENCY_OUTCOME_UNKNOWN,
            IDEMPOTENCY_SHUTTING_DOWN ->
            Level.INFO;
        case IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_ANSWER_TOO_LARGE -> Level.WARN;
        case IDEMPOTENCY_STORE_UNAVAILABLE -> operationId.isEmpty() ? Level.WARN : Level.DEBUG;
        case IDEMPOTENCY_RECORD_UNREADABLE -> Level.ERROR;
      };
    }

    @Override
    public void settled(IdempotencyEvent.ClaimSettled event) {
      write(
          of(
                  event.settlement() == Settlement.MARK_UNKNOWN ? Level.INFO : Level.DEBUG,
                  "settle",
                  Optional.of(event.operationId()),
                  event.settlement() == Settlement.MARK_UNKNOWN
                      ? "the outcome is unknown; the key stays reserved until its lease ends"
                      : "the outcome is settled")
              .because(event.settlement()));
    }

    @Override
    public void settlementFailed(IdempotencyEvent.SettlementFailed event) {
      write(
          of(
                  Level.WARN,
                  "settlement_failed",
                  Optional.of(event.operationId()),
                  "the outcome could not be settled; a retry finds out what was committed")
              .because(event.settlement())
              .causedBy(event.cause().map(Writer::word)));
    }

    @Override
    public void unprotected(IdempotencyEvent.Unprotected event) {
      write(
          of(
                  Level.WARN,
                  "unprotected",
                  Optional.empty(),
                  "a call is not protected: " + event.cause().words())
              .because(event.cause()));
    }

    @Override
    public void leaseLost(IdempotencyEvent.LeaseLost event) {
      write(
          of(
              Level.WARN,
              "lease_lost",
              Optional.of(event.operationId()),
              "the call lost its lease while it was running, so its answer is not recorded"));
    }

    @Override
    public void recordingDeferred(IdempotencyEvent.RecordingDeferred event) {
      write(
          of(
                  Level.WARN,
                  "recording_deferred",
                  Optional.of(event.operationId()),
                  "the answer could not be recorded; trying again in the background")
              .causedBy(Optional.of(word(event.cause()))));
    }

    @Override
    public void recordedLate(IdempotencyEvent.RecordedLate event) {
      write(
          of(
              Level.INFO,
              "recorded_late",
              Optional.of(event.operationId()),
              "the answer was recorded "
                  + event.late().toMillis()
                  + " ms after its handler ended"));
    }

    @Override
    public void recordingAbandoned(IdempotencyEvent.RecordingAbandoned event) {
      write(
          of(
                  Level.ERROR,
                  "recording_abandoned",
                  Optional.of(event.operationId()),
                  "gave up recording the answer; a retry runs the handler again once the lease has"
                      + " ended")
              .causedBy(Optional.of(word(event.cause()))));
    }

    @Override
    public void statusUnknown(IdempotencyEvent.StatusUnknown event) {
      write(
          of(
              failed ? Level.WARN : Level.DEBUG,
              "status_unknown",
              Optional.of(event.operationId()),
              "the status could not be resolved; it is reported as processing"));
    }

    @Override
    public void retentionFailed(IdempotencyEvent.RetentionFailed event) {
      write(
          of(
              Level.WARN,
              "retention_failed",
              Optional.of(event.operationId()),
              "the record's retention could not be extended, so the record expires earlier than its"
                  + " procedure sets"));
    }

    private static String word(StoreException cause) {
      return cause.failureCause().word();
    }

    private void write(DecisionLine written) {
      line = Optional.of(written);
    }
  }
}
