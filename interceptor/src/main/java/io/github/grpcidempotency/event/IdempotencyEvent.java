package io.github.grpcidempotency.event;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.KeyProblem;
import io.github.grpcidempotency.store.StoreException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/**
 * Something that happened to a call, to a piece of work, or to the leases and records of a process.
 * No event contains a key, a request or a response. For each kind of event there is a method of
 * {@link IdempotencyListener}, whose documentation states when it is called.
 */
public sealed interface IdempotencyEvent {

  /**
   * A call carries a well-formed key of a known caller.
   *
   * @param source where the key was found, as in error messages: a header, a field, a provider's
   *     event
   */
  record KeyFound(CallInfo call, String source) implements IdempotencyEvent {}

  /**
   * A call has no key, although its procedure accepts keys.
   *
   * @param refused whether the call is refused, because its procedure requires a key
   */
  record KeyMissing(CallInfo call, boolean refused) implements IdempotencyEvent {}

  /** A call carries a malformed key. */
  record KeyInvalid(CallInfo call, String source, KeyProblem problem) implements IdempotencyEvent {}

  /**
   * A key source could not find out whether a call has a key, or could not trust the key.
   *
   * @param source the source, such as a provider's event
   */
  record ExtractionFailed(CallInfo call, String source, ExtractionFailure failure)
      implements IdempotencyEvent {}

  /**
   * A claim was won.
   *
   * @param attempt the number of this run of the operation, from 1; a later run has taken over from
   *     a run whose lease ended
   * @param takenOverFrom the server of that run, if the store keeps the names of servers
   */
  record Claimed(
      CallInfo call, UUID operationId, int attempt, Optional<String> takenOverFrom, Duration took)
      implements IdempotencyEvent {
    /** Returns whether this run has taken over from an earlier run. */
    public boolean takeover() {
      return attempt > 1;
    }
  }

  /**
   * A recorded outcome is replayed.
   *
   * @param failure whether the recorded outcome is an error
   * @param trace the trace position of the run that produced the answer, as its {@link CallScope}
   *     returned it
   */
  record Replayed(
      CallInfo call, UUID operationId, boolean failure, Duration took, Optional<ByteString> trace)
      implements IdempotencyEvent {}

  /** A duplicate starts to wait for the call that owns its key. */
  record Attached(CallInfo call) implements IdempotencyEvent {}

  /** A duplicate has stopped waiting. */
  record WaitEnded(CallInfo call, Duration waited, WaitEnd end) implements IdempotencyEvent {}

  /**
   * A call is refused.
   *
   * @param detail a word of a small set: for a reused key, what differs ({@code request} or {@code
   *     procedure}); for an unavailable store, the cause
   * @param operationId the operation that has the key, if it is known
   */
  record Refused(
      CallInfo call, RefusalReason reason, Optional<String> detail, Optional<UUID> operationId)
      implements IdempotencyEvent {}

  /**
   * A claim was settled. For an answer that is recorded later, there is a {@link RecordedLate}
   * event instead.
   */
  record ClaimSettled(
      CallInfo call, UUID operationId, Settlement settlement, Duration handler, Duration took)
      implements IdempotencyEvent {}

  /**
   * A claim could not be settled. A retry finds out whether the effect was committed.
   *
   * @param cause what the store threw; empty if the claim's transaction was rolled back
   */
  record SettlementFailed(
      CallInfo call, UUID operationId, Settlement settlement, Optional<StoreException> cause)
      implements IdempotencyEvent {}

  /** A call with a key runs, or ran, without the protection of the store. */
  record Unprotected(CallInfo call, UnprotectedCause cause) implements IdempotencyEvent {}

  /** A call that ran found that another call owns its key now. It changed nothing in the store. */
  record LeaseLost(CallInfo call, UUID operationId) implements IdempotencyEvent {}

  /** An answer could not be recorded. Recording is retried in the background, within limits. */
  record RecordingDeferred(CallInfo call, UUID operationId, StoreException cause)
      implements IdempotencyEvent {}

  /**
   * A deferred answer has been recorded.
   *
   * @param late the time between the end of the handler and the recording
   */
  record RecordedLate(CallInfo call, UUID operationId, Duration late) implements IdempotencyEvent {}

  /**
   * The library gave up recording an answer, although the handler's effect has happened. Recording
   * failed too often or for too long, too many answers were waiting, or the interceptor was closed.
   * Once the lease has ended, a retry runs the handler again.
   */
  record RecordingAbandoned(CallInfo call, UUID operationId, StoreException cause)
      implements IdempotencyEvent {}

  /**
   * A replay has the status {@code processing}, because the status of the asynchronous work could
   * not be read.
   */
  record StatusUnknown(CallInfo call, UUID operationId) implements IdempotencyEvent {}

  /**
   * The retention of a replayed record should have been restarted, but this failed. The record
   * keeps its expiry time.
   */
  record RetentionFailed(CallInfo call, UUID operationId, Throwable cause)
      implements IdempotencyEvent {}

  /**
   * The leases of a process were renewed, in one statement for each shard.
   *
   * @param lost how many of them belong to another owner now
   */
  record LeasesRenewed(int held, int lost, Duration took, Optional<String> shard)
      implements IdempotencyEvent {}

  /** The leases of a process could not be renewed. Renewal is tried again before the leases end. */
  record RenewalFailed(int held, Throwable cause, Optional<String> shard)
      implements IdempotencyEvent {}

  /**
   * Expired records were swept.
   *
   * @param lag how long ago the oldest of these records had expired; zero if there was none, empty
   *     if the sweeper does not know
   * @param shard the name of the sweeper's database; empty if it was given none
   */
  record Swept(long records, Duration took, Optional<Duration> lag, Optional<String> shard)
      implements IdempotencyEvent {}

  /**
   * A sweep failed. The next sweep continues where this sweep ended.
   *
   * @param shard the name of the sweeper's database; empty if it was given none
   */
  record SweepFailed(Throwable cause, Optional<String> shard) implements IdempotencyEvent {}
}
