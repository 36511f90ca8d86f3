package io.github.grpcidempotency.internal.event;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.event.CallInfo;
import io.github.grpcidempotency.event.ExtractionFailure;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.ProcedureInfo;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.event.WaitEnd;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.key.KeyProblem;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.StoreException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Emits the events of one call to the listeners, within the scope in which the call arrived, and to
 * the log. Thread-safe; never throws.
 */
public final class CallEvents {
  private final Listeners listeners;
  private final DecisionLog log;
  private final SafeScope scope;
  private final CallInfo call;
  private final Optional<IdempotencyKey> key;
  private final Optional<String> source;

  private CallEvents(
      Listeners listeners,
      DecisionLog log,
      SafeScope scope,
      CallInfo call,
      Optional<IdempotencyKey> key,
      Optional<String> source) {
    this.listeners = listeners;
    this.log = log;
    this.scope = scope;
    this.call = call;
    this.key = key;
    this.source = source;
  }

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

  /** Returns the events of the same call with its caller. */
  public CallEvents of(Optional<Caller> caller) {
    return caller.map(known -> with(infoOf(known), key, source)).orElse(this);
  }

  /**
   * Returns the events of the same call with its key.
   *
   * @param source where the key was found
   */
  public CallEvents of(IdempotencyKey key, String source) {
    return with(infoOf(key.caller()), Optional.of(key), Optional.of(source));
  }

  /** Returns the events of the same call with its procedure. */
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

  /** Returns the call's position in its trace. */
  public Optional<ByteString> trace() {
    return scope.trace();
  }

  /** Emits the event of a call with a well-formed key. */
  public void keyFound() {
    emit(new IdempotencyEvent.KeyFound(call, source.orElse("")), null);
  }

  /** Emits the event of a call without a key whose procedure accepts keys. */
  public void keyMissing(boolean refused) {
    emit(new IdempotencyEvent.KeyMissing(call, refused), null);
  }

  /** Emits the event of a call with a malformed key. */
  public void keyInvalid(String where, KeyProblem problem) {
    emit(new IdempotencyEvent.KeyInvalid(call, where, problem), null);
  }

  /** Emits the event of a failure of a key source or of the caller resolver. */
  public void extractionFailed(String where, ExtractionFailure failure, Throwable why) {
    emit(new IdempotencyEvent.ExtractionFailed(call, where, failure), why);
  }

  /** Emits the event of a claim that was won. */
  public void claimed(Claim claim, Duration took) {
    emit(
        new IdempotencyEvent.Claimed(
            call, claim.operationId(), claim.attempt(), claim.takenOverFrom(), took),
        null);
  }

  /** Emits the event of a record that is about to be replayed. */
  public void replayed(ClaimResult.Recorded recorded, Duration took) {
    boolean failure = recorded.outcome() instanceof RecordedOutcome.Failure;
    emit(
        new IdempotencyEvent.Replayed(
            call, recorded.operationId(), failure, took, recorded.trace()),
        null);
  }

  /** Emits the event of a call that starts to wait. */
  public void attached() {
    emit(new IdempotencyEvent.Attached(call), null);
  }

  /** Emits the event of a call that has stopped waiting. */
  public void waitEnded(Duration waited, WaitEnd end) {
    emit(new IdempotencyEvent.WaitEnded(call, waited, end), null);
  }

  /** Returns why the wait ends for a call that gets this result. */
  public static WaitEnd endOfWait(ClaimResult result) {
    if (result instanceof ClaimResult.Won) {
      return WaitEnd.CLAIMED;
    }
    if (result instanceof ClaimResult.Recorded) {
      return WaitEnd.ANSWERED;
    }
    return result instanceof ClaimResult.InFlight running && running.outcomeUnknown()
        ? WaitEnd.OUTCOME_UNKNOWN
        : WaitEnd.GAVE_UP;
  }

  /**
   * Emits the event of a call that is about to be refused.
   *
   * @param operationId the operation that has the key, if it is known
   * @param why the failure that caused it, if there is one
   */
  public void refused(Refusal refusal, Optional<UUID> operationId, @Nullable Throwable why) {
    emit(new IdempotencyEvent.Refused(call, refusal.reason(), refusal.detail(), operationId), why);
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

  /** Emits the event of a claim that was settled. */
  public void settled(UUID operationId, Settlement settlement, Duration handler, Duration took) {
    emit(new IdempotencyEvent.ClaimSettled(call, operationId, settlement, handler, took), null);
  }

  /** Emits the event of a claim that could not be settled. */
  public void settlementFailed(UUID operationId, Settlement settlement, @Nullable Throwable why) {
    Optional<StoreException> cause =
        why instanceof StoreException failure ? Optional.of(failure) : Optional.empty();
    emit(new IdempotencyEvent.SettlementFailed(call, operationId, settlement, cause), why);
  }

  /** Emits the event of a call that runs, or ran, unprotected. */
  public void unprotected(UnprotectedCause cause, @Nullable Throwable why) {
    emit(new IdempotencyEvent.Unprotected(call, cause), why);
  }

  /** Emits the event of a call whose key has another owner now. */
  public void leaseLost(UUID operationId) {
    emit(new IdempotencyEvent.LeaseLost(call, operationId), null);
  }

  /** Emits the event of an answer that could not be recorded yet. */
  public void recordingDeferred(UUID operationId, StoreException cause) {
    emit(new IdempotencyEvent.RecordingDeferred(call, operationId, cause), cause);
  }

  /** Emits the event of a deferred answer that was recorded. */
  public void recordedLate(UUID operationId, Duration late) {
    emit(new IdempotencyEvent.RecordedLate(call, operationId, late), null);
  }

  /** Emits the event of a deferred answer that will not be recorded. */
  public void recordingAbandoned(UUID operationId, StoreException cause) {
    emit(new IdempotencyEvent.RecordingAbandoned(call, operationId, cause), cause);
  }

  /**
   * Emits the event of asynchronous work whose status could not be read.
   *
   * @param why the exception of the resolver; empty if the store could not run the query, and has
   *     logged the reason
   */
  public void statusUnknown(UUID operationId, Optional<RuntimeException> why) {
    emit(new IdempotencyEvent.StatusUnknown(call, operationId), why.orElse(null));
  }

  /** Emits the event of a record whose retention could not be restarted. */
  public void retentionFailed(UUID operationId, Throwable cause) {
    emit(new IdempotencyEvent.RetentionFailed(call, operationId, cause), cause);
  }

  private void emit(IdempotencyEvent event, @Nullable Throwable why) {
    scope.run(
        () -> {
          log.write(event, call, key, source, why);
          listeners.notify(event);
        });
  }
}
