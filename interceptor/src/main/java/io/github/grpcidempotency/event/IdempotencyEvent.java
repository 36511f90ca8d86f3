package io.github.grpcidempotency.event;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.KeyProblem;
import io.github.grpcidempotency.store.StoreException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/**
 * Something that happened to a call, to a piece of work, or to the leases and records of a process.
 * No event contains a key, a request or a response.
 */
public sealed interface IdempotencyEvent {
  /** An event of a call, or of a piece of work. */
  sealed interface OfCall extends IdempotencyEvent {
    CallInfo call();
  }

  /** An event of a server process, or of its sweeper. */
  sealed interface OfProcess extends IdempotencyEvent {
    /** Returns the shard, or the name of the sweeper's database; empty if there is none. */
    Optional<String> shard();
  }

  /**
   * A call carries a well-formed key of a known caller. Emitted before the key is claimed.
   *
   * @param source where the key was found, as in error messages: a header, a field, a provider's
   *     event
   */
  record KeyFound(CallInfo call, String source) implements OfCall {}

  /**
   * A call has no key, although its procedure accepts keys. Emitted before the handler runs or the
   * call is refused.
   *
   * @param refused whether the call is refused, because its procedure requires a key
   */
  record KeyMissing(CallInfo call, boolean refused) implements OfCall {}

  /** A call carries a malformed key. Emitted before the call is refused. */
  record KeyInvalid(CallInfo call, String source, KeyProblem problem) implements OfCall {}

  /**
   * A key source could not find out whether a call has a key, or could not trust the key. Emitted
   * before the call is refused.
   *
   * @param source the source, such as a provider's event
   */
  record ExtractionFailed(CallInfo call, String source, ExtractionFailure failure)
      implements OfCall {}

  /**
   * A claim was won. Emitted before the handler runs. A transactional claim is not committed yet: a
   * crash leaves nothing of it. Any other claim is committed: after a crash, its lease ends by
   * itself. A claim at commit is reported when its record is committed, after the handler has
   * ended. If it is preempted, there is no such event, and the events that follow describe the
   * claim before the handler.
   *
   * @param attempt the number of this run of the operation, from 1; a later run has taken over from
   *     a run whose lease ended
   * @param takenOverFrom the server of that run, if the store keeps the names of servers
   */
  record Claimed(
      CallInfo call, UUID operationId, int attempt, Optional<String> takenOverFrom, Duration took)
      implements OfCall {}

  /**
   * A recorded outcome is replayed. Emitted before it is sent.
   *
   * @param failure whether the recorded outcome is an error
   * @param trace the trace position of the run that produced the answer, as its {@link CallScope}
   *     returned it
   */
  record Replayed(
      CallInfo call, UUID operationId, boolean failure, Duration took, Optional<ByteString> trace)
      implements OfCall {}

  /**
   * A duplicate is about to wait for the call that owns its key. {@link WaitEnded} follows unless
   * the process crashes.
   */
  record Attached(CallInfo call) implements OfCall {}

  /** A duplicate has stopped waiting. Emitted before the duplicate continues. */
  record WaitEnded(CallInfo call, Duration waited, WaitEnd end) implements OfCall {}

  /**
   * A call is refused. Emitted before the error is sent. The handler did not run, or its answer
   * does not count.
   *
   * @param detail a word of a small set: for a reused key, what differs ({@code request} or {@code
   *     procedure}); for an unavailable store, the cause
   * @param operationId the operation that has the key, if it is known
   */
  record Refused(
      CallInfo call, RefusalReason reason, Optional<String> detail, Optional<UUID> operationId)
      implements OfCall {}

  /**
   * A claim was settled. Emitted after the store has committed the settlement and before the answer
   * is sent; a crash in between loses the event, not the settlement. For an answer that is recorded
   * later, there is a {@link RecordedLate} event instead.
   */
  record ClaimSettled(
      CallInfo call, UUID operationId, Settlement settlement, Duration handler, Duration took)
      implements OfCall {}

  /**
   * A claim could not be settled. Emitted before the client gets an error after which it may retry.
   * A retry finds out whether the effect was committed.
   *
   * @param cause what the store threw; empty if the claim's transaction was rolled back
   */
  record SettlementFailed(
      CallInfo call, UUID operationId, Settlement settlement, Optional<StoreException> cause)
      implements OfCall {}

  /**
   * A call with a key runs without the protection of the store. Emitted before its handler runs, or
   * afterwards if the cause is known only then.
   */
  record Unprotected(CallInfo call, UnprotectedCause cause) implements OfCall {}

  /** A call that ran found that another call owns its key now. It changed nothing in the store. */
  record LeaseLost(CallInfo call, UUID operationId) implements OfCall {}

  /**
   * An answer could not be recorded. Recording is retried in the background, within limits. Emitted
   * before the client gets an error after which it may retry. A crash afterwards loses the answer.
   */
  record RecordingDeferred(CallInfo call, UUID operationId, StoreException cause)
      implements OfCall {}

  /**
   * A deferred answer has been recorded.
   *
   * @param late the time between the end of the handler and the recording
   */
  record RecordedLate(CallInfo call, UUID operationId, Duration late) implements OfCall {}

  /**
   * The library gave up recording an answer, although the handler's effect has happened. Recording
   * failed too often or for too long, too many answers were waiting, or the interceptor was closed.
   * Once the lease has ended, a retry runs the handler again.
   */
  record RecordingAbandoned(CallInfo call, UUID operationId, StoreException cause)
      implements OfCall {}

  /**
   * A replay has the status {@code processing}, because the status of the asynchronous work could
   * not be read. Emitted before the replay is sent.
   */
  record StatusUnknown(CallInfo call, UUID operationId) implements OfCall {}

  /**
   * The retention of a replayed record should have been restarted, but this failed. The record
   * keeps its expiry time. Emitted before the replay is sent.
   */
  record RetentionFailed(CallInfo call, UUID operationId, Throwable cause) implements OfCall {}

  /**
   * The leases of a process were renewed, in one statement for each shard.
   *
   * @param lost how many of them belong to another owner now
   */
  record LeasesRenewed(int held, int lost, Duration took, Optional<String> shard)
      implements OfProcess {}

  /** The leases of a process could not be renewed. Renewal is tried again before the leases end. */
  record RenewalFailed(int held, Throwable cause, Optional<String> shard) implements OfProcess {}

  /**
   * Expired records were swept. Emitted after the last batch of the sweep was committed.
   *
   * @param lag how long ago the oldest of these records had expired; zero if there was none, empty
   *     if the sweeper does not know
   */
  record Swept(long records, Duration took, Optional<Duration> lag, Optional<String> shard)
      implements OfProcess {}

  /** A sweep failed. The next sweep continues where this sweep ended. */
  record SweepFailed(Throwable cause, Optional<String> shard) implements OfProcess {}
}
