package io.github.grpcidempotency.event;

import java.time.Duration;
import java.util.Optional;

/**
 * Something that happened to a call, to a piece of work, or to the leases and records of a process.
 * No event contains a key, a request or a response.
 *
 * <p>Only the library implements this interface and the interfaces that extend it. A later version
 * may add kinds and methods.
 */
public interface IdempotencyEvent {
  Kind kind();

  /**
   * Returns the shard of the call or of the leases, or the name of the sweeper's database; empty if
   * there is none.
   */
  Optional<String> shard();

  /** Returns the duration that the {@link Kind} names; zero if it names none. */
  default Duration took() {
    return Duration.ZERO;
  }

  /**
   * Returns the exception because of which the event happened, if there is one. A failure of the
   * store is a {@code StoreException}.
   */
  default Optional<Throwable> thrown() {
    return Optional.empty();
  }

  /** What has happened. The type of the event is in parentheses. */
  enum Kind {
    /**
     * A call carries a well-formed key of a known caller. Emitted before the key is claimed.
     * ({@link KeyEvent})
     */
    KEY_FOUND,
    /**
     * A call has no key, although its procedure accepts keys. Emitted before the handler runs.
     * ({@link CallEvent})
     */
    KEY_MISSING,
    /**
     * A call has no key, although its procedure requires a key. Emitted before the call is refused.
     * ({@link CallEvent})
     */
    KEY_REQUIRED,
    /** A call carries a malformed key. Emitted before the call is refused. ({@link KeyEvent}) */
    KEY_INVALID,
    /**
     * A key source could not find out whether a call has a key, or could not trust the key. Emitted
     * before the call is refused. ({@link KeyEvent})
     */
    EXTRACTION_FAILED,
    /**
     * A claim was won. Emitted before the handler runs. A transactional claim is not committed yet:
     * a crash leaves nothing of it. Any other claim is committed: after a crash, its lease ends by
     * itself. A claim at commit is reported when its record is committed, after the handler has
     * ended. If it is preempted, there is no such event, and the events that follow describe the
     * claim before the handler. Has the duration of the claim. ({@link ClaimEvent})
     */
    CLAIMED,
    /**
     * A recorded outcome is replayed. Emitted before it is sent. Has the duration of the claim.
     * ({@link ReplayEvent})
     */
    REPLAYED,
    /**
     * A duplicate is about to wait for the call that owns its key. {@link #WAIT_ENDED} follows
     * unless the process crashes. ({@link CallEvent})
     */
    ATTACHED,
    /**
     * A duplicate has stopped waiting. Emitted before the duplicate continues. Has the duration of
     * the wait. ({@link WaitEvent})
     */
    WAIT_ENDED,
    /**
     * A call is refused. Emitted before the error is sent. The handler did not run, or its answer
     * does not count. ({@link RefusalEvent})
     */
    REFUSED,
    /**
     * A claim was settled. Emitted after the store has committed the settlement and before the
     * answer is sent; a crash in between loses the event, not the settlement. For an answer that is
     * recorded later, there is a {@link #RECORDED_LATE} event instead. Has the duration of the
     * settlement. ({@link SettlementEvent})
     */
    SETTLED,
    /**
     * A claim could not be settled. Emitted before the client gets an error after which it may
     * retry. A retry finds out whether the effect was committed. Has the exception of the store,
     * unless the claim's transaction was rolled back. ({@link SettlementEvent})
     */
    SETTLEMENT_FAILED,
    /**
     * At least ten runs of a key have failed in a row in this process: their keys were released,
     * their outcomes were unknown, or their transactions were rolled back. Emitted after the event
     * of the settlement, with every further run that fails. ({@link CallEvent})
     */
    KEY_FAILING,
    /**
     * A call with a key runs without the protection of the store. Emitted before its handler runs,
     * or afterwards if the cause is known only then. ({@link UnprotectedEvent})
     */
    UNPROTECTED,
    /**
     * A call that ran found that another call owns its key now. It changed nothing in the store.
     * ({@link CallEvent})
     */
    LEASE_LOST,
    /**
     * An answer could not be recorded. Recording is retried in the background, within limits.
     * Emitted before the client gets an error after which it may retry. A crash afterwards loses
     * the answer. ({@link CallEvent})
     */
    RECORDING_DEFERRED,
    /**
     * A deferred answer has been recorded. Has the time between the end of the handler and the
     * recording. ({@link CallEvent})
     */
    RECORDED_LATE,
    /**
     * The library gave up recording an answer, although the handler's effect has happened.
     * Recording failed too often or for too long, too many answers were waiting, or the interceptor
     * was closed. Once the lease has ended, a retry runs the handler again. ({@link CallEvent})
     */
    RECORDING_ABANDONED,
    /**
     * A replay has the status {@code processing}, because the status of the asynchronous work could
     * not be read. Emitted before the replay is sent. ({@link CallEvent})
     */
    STATUS_UNKNOWN,
    /**
     * The retention of a replayed record should have been restarted, but this failed. The record
     * keeps its expiry time. Emitted before the replay is sent. ({@link CallEvent})
     */
    RETENTION_FAILED,
    /**
     * The leases of a process were renewed, in one statement for each shard. Has the duration of
     * the statement. ({@link ProcessEvent})
     */
    LEASES_RENEWED,
    /**
     * The leases of a process could not be renewed. Renewal is tried again before the leases end.
     * ({@link ProcessEvent})
     */
    RENEWAL_FAILED,
    /**
     * Expired records were swept. Emitted after the last batch of the sweep was committed. Has the
     * duration of the sweep. ({@link ProcessEvent})
     */
    SWEPT,
    /** A sweep failed. The next sweep continues where this sweep ended. ({@link ProcessEvent}) */
    SWEEP_FAILED
  }
}
