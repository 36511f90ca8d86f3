package io.github.grpcidempotency.internal.event;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.event.ClaimEvent;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.event.WaitEvent;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.key.KeyProblem;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.store.StoreException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * Emits the events of one call to the listeners, within the scope in which the call arrived, and to
 * the log. Thread-safe; never throws.
 */
public record CallEvents(
    Listeners listeners,
    DecisionLog log,
    SafeScope scope,
    CallInfo call,
    Optional<IdempotencyKey> key,
    Optional<String> source) {

  /** Captures the context of a call that arrives on the current thread. */
  public static CallEvents capture(Listeners listeners, DecisionLog log, ProcedureInfo procedure) {
    return new CallEvents(
        listeners,
        log,
        listeners.capture(),
        new CallInfo(procedure, Optional.empty(), Optional.empty(), Optional.empty()),
        Optional.empty(),
        Optional.empty());
  }

  public CallEvents of(Optional<Caller> caller) {
    return caller.map(known -> with(infoOf(known), key, source)).orElse(this);
  }

  public CallEvents of(IdempotencyKey key, String source) {
    return with(infoOf(key.caller()), Optional.of(key), Optional.of(source));
  }

  public CallEvents about(ProcedureInfo procedure) {
    return with(new CallInfo(procedure, call.tenant(), call.project(), call.shard()), key, source);
  }

  /** Returns the events of the same call with its shard, if it has one. */
  public CallEvents onShard(Optional<String> shard) {
    return shard.equals(call.shard())
        ? this
        : with(new CallInfo(call.procedure(), call.tenant(), call.project(), shard), key, source);
  }

  private CallInfo infoOf(Caller caller) {
    return new CallInfo(call.procedure(), caller.tenant(), caller.project(), call.shard());
  }

  private CallEvents with(
      CallInfo info, Optional<IdempotencyKey> known, Optional<String> knownSource) {
    return new CallEvents(listeners, log, scope, info, known, knownSource);
  }

  /** Runs an action within the call's scope, on the current thread. */
  public void within(Runnable action) {
    scope.run(action);
  }

  public Optional<ByteString> trace() {
    return scope.trace();
  }

  public void keyFound() {
    emit(Events.keyFound(call, source.orElse("")));
  }

  /** Emits the event of a call without a key whose procedure accepts keys. */
  public void keyMissing(boolean refused) {
    emit(Events.keyMissing(call, refused));
  }

  public void keyInvalid(String where, KeyProblem problem) {
    emit(
        Events.keyInvalid(call, where, problem),
        DecisionLine.of(Level.INFO, "key_invalid", "the key is malformed: " + problem.explanation())
            .because(problem)
            .from(where));
  }

  /**
   * Emits the event of a failure of a key source or of the caller resolver. An unauthenticated key
   * is only a debug line, because the refusal of the call is logged too.
   */
  public void extractionFailed(String where, KeyProblem problem, Throwable why) {
    Level level =
        switch (problem) {
          case UNAUTHENTICATED -> Level.DEBUG;
          case UNAVAILABLE -> Level.WARN;
          default -> Level.ERROR;
        };
    emit(
        Events.extractionFailed(call, where, problem),
        DecisionLine.of(level, "extraction_failed", "the call has no key: " + problem.explanation())
            .because(problem)
            .from(where),
        why);
  }

  public void claimed(Claim claim, Duration took) {
    ClaimEvent event =
        Events.claimed(call, claim.operationId(), claim.attempt(), claim.takenOverFrom(), took);
    emit(event, lineOf(event));
  }

  static DecisionLine lineOf(ClaimEvent event) {
    DecisionLine line =
        event.attempt() > 1
            ? DecisionLine.of(
                Level.INFO,
                "takeover",
                "run %d takes over from %s, whose lease has ended"
                    .formatted(event.attempt(), event.takenOverFrom().orElse("an owner")))
            : debug("claim", "the key is claimed");
    return line.about(event.operationId());
  }

  public void replayed(ClaimResult.Recorded recorded, Duration took) {
    UUID id = recorded.operationId();
    boolean failure = recorded.outcome() instanceof RecordedOutcome.Failure;
    emit(
        Events.replayed(call, id, failure, took, recorded.trace()),
        debug("replay", "the recorded outcome is replayed").about(id));
  }

  public void attached() {
    emit(Events.attached(call), debug("attach", "the call waits for the call that holds its key"));
  }

  public void waitEnded(Duration waited, WaitEvent.End end) {
    emit(
        Events.waitEnded(call, waited, end),
        debug("wait_end", "the call waited for " + waited.toMillis() + " ms").because(end));
  }

  public static WaitEvent.End endOfWait(ClaimResult result) {
    if (result instanceof ClaimResult.Won) {
      return WaitEvent.End.CLAIMED;
    }
    if (result instanceof ClaimResult.Recorded) {
      return WaitEvent.End.ANSWERED;
    }
    return result instanceof ClaimResult.InFlight running && running.outcomeUnknown()
        ? WaitEvent.End.OUTCOME_UNKNOWN
        : WaitEvent.End.GAVE_UP;
  }

  /** Emits the event of a call that is about to be refused because of the result of its claim. */
  public void refused(Refusal refusal, ClaimResult met) {
    Optional<UUID> operationId = Optional.empty();
    if (met instanceof ClaimResult.Recorded recorded) {
      operationId = Optional.of(recorded.operationId());
    } else if (met instanceof ClaimResult.InFlight running) {
      operationId = running.operationId();
    }
    refused(refusal, operationId, null);
  }

  public void refused(Refusal refusal, Optional<UUID> operationId, @Nullable Throwable why) {
    RefusalReason reason = refusal.reason();
    Level level = levelOf(reason, operationId);
    String advice =
        reason == RefusalReason.CALLER_REQUIRED
            ? "; check that authentication runs before the idempotency interceptor"
            : "";
    emit(
        Events.refused(call, reason, refusal.detail(), operationId),
        DecisionLine.of(
                why != null && level != Level.ERROR ? Level.WARN : level,
                "refuse",
                "the call is refused: " + reason.wireName() + advice)
            .about(operationId)
            .because(reason.wireName())
            .causedBy(refusal.detail()),
        why);
  }

  /** A refusal for which another line was written is only a debug line. */
  private static Level levelOf(RefusalReason reason, Optional<UUID> operationId) {
    return switch (reason) {
      case KEY_INVALID, IN_PROGRESS, KEY_UNKNOWN, OPERATION_UNKNOWN, OPERATION_UNFINISHED ->
          Level.DEBUG;
      case KEY_REQUIRED,
          KEY_PROHIBITED,
          CALLER_REQUIRED,
          REPLAY_DENIED,
          RESOURCE_GONE,
          OUTCOME_UNKNOWN,
          SHUTTING_DOWN ->
          Level.INFO;
      case KEY_REUSED, ANSWER_TOO_LARGE -> Level.WARN;
      case STORE_UNAVAILABLE -> operationId.isEmpty() ? Level.WARN : Level.DEBUG;
      case RECORD_UNREADABLE -> Level.ERROR;
    };
  }

  public void settled(UUID operationId, Settlement settlement, Duration handler, Duration took) {
    DecisionLine line =
        settlement == Settlement.MARK_UNKNOWN
            ? DecisionLine.of(
                Level.INFO,
                "settle",
                "the outcome is unknown; the key stays reserved until its lease ends")
            : debug("settle", "the outcome is settled");
    emit(
        Events.settled(call, operationId, settlement, handler, took),
        line.about(operationId).because(settlement));
    boolean failed = settlement == Settlement.RELEASE || settlement == Settlement.MARK_UNKNOWN;
    key.ifPresent(known -> remember(known, operationId, failed));
  }

  /** Remembers the end of a run, and emits the event of a key that fails again and again. */
  private void remember(IdempotencyKey run, UUID operationId, boolean failed) {
    if (!failed) {
      listeners.failingKeys().succeeded(run);
      return;
    }
    int failures = listeners.failingKeys().failed(run);
    if (failures >= FailingKeys.MANY) {
      emit(
          Events.keyFailing(call, operationId),
          warning("key_failing", "%d runs of the key have failed in a row".formatted(failures))
              .about(operationId));
    }
  }

  /**
   * Emits the event of a claim that could not be settled as intended.
   *
   * @param rolledBack whether it is known that the claim's transaction was rolled back
   */
  public void settlementFailed(
      UUID operationId, Settlement settlement, @Nullable Throwable why, boolean rolledBack) {
    Optional<StoreException> cause =
        why instanceof StoreException failure ? Optional.of(failure) : Optional.empty();
    emit(
        Events.settlementFailed(call, operationId, settlement, cause),
        warning(
                "settlement_failed",
                rolledBack
                    ? "the transaction was rolled back, so the call has no effect; a retry runs the"
                        + " handler again"
                    : "the outcome could not be settled; a retry finds out what was committed")
            .about(operationId)
            .because(settlement)
            .causedBy(cause.map(CallEvents::word)),
        why);
    key.filter(known -> rolledBack)
        .ifPresent(known -> remember(known, operationId, /* failed= */ true));
  }

  public void unprotected(UnprotectedCause cause, @Nullable Throwable why) {
    emit(
        Events.unprotected(call, cause),
        warning("unprotected", "a call is not protected: " + cause.words()).because(cause),
        why);
  }

  public void leaseLost(UUID operationId) {
    emit(
        Events.leaseLost(call, operationId),
        warning(
                "lease_lost",
                "the call lost its lease while it was running, so its answer is not recorded")
            .about(operationId));
  }

  public void recordingDeferred(UUID operationId, StoreException cause) {
    emit(
        Events.recordingDeferred(call, operationId, cause),
        warning(
                "recording_deferred",
                "the answer could not be recorded; trying again in the background")
            .about(operationId)
            .causedBy(Optional.of(word(cause))),
        cause);
  }

  public void recordedLate(UUID operationId, Duration late) {
    emit(
        Events.recordedLate(call, operationId, late),
        DecisionLine.of(
                Level.INFO,
                "recorded_late",
                "the answer was recorded " + late.toMillis() + " ms after its handler ended")
            .about(operationId));
  }

  public void recordingAbandoned(UUID operationId, StoreException cause) {
    emit(
        Events.recordingAbandoned(call, operationId, cause),
        DecisionLine.of(
                Level.ERROR,
                "recording_abandoned",
                "gave up recording the answer; a retry runs the handler again once the lease has"
                    + " ended")
            .about(operationId)
            .causedBy(Optional.of(word(cause))),
        cause);
  }

  /**
   * Emits the event of asynchronous work whose status could not be read.
   *
   * @param why the exception of the resolver; empty if the store could not run the query, and has
   *     logged the reason
   */
  public void statusUnknown(UUID operationId, Optional<Throwable> why) {
    emit(
        Events.statusUnknown(call, operationId),
        DecisionLine.of(
                why.isPresent() ? Level.WARN : Level.DEBUG,
                "status_unknown",
                "the status could not be resolved; it is reported as processing")
            .about(operationId),
        why.orElse(null));
  }

  public void retentionFailed(UUID operationId, Throwable cause) {
    emit(
        Events.retentionFailed(call, operationId, cause),
        warning(
                "retention_failed",
                "the record's retention could not be extended, so the record expires earlier than"
                    + " its procedure sets")
            .about(operationId),
        cause);
  }

  private static DecisionLine debug(String decision, String words) {
    return DecisionLine.of(Level.DEBUG, decision, words);
  }

  private static DecisionLine warning(String decision, String words) {
    return DecisionLine.of(Level.WARN, decision, words);
  }

  private static String word(StoreException cause) {
    return cause.failureCause().word();
  }

  private void emit(IdempotencyEvent event, DecisionLine line) {
    emit(event, line, null);
  }

  private void emit(IdempotencyEvent event, DecisionLine line, @Nullable Throwable why) {
    scope.run(
        () -> {
          log.write(line, call, key, source, why);
          listeners.emit(event);
        });
  }

  /** Emits an event that another line of the call covers. */
  private void emit(IdempotencyEvent event) {
    scope.run(() -> listeners.emit(event));
  }
}
