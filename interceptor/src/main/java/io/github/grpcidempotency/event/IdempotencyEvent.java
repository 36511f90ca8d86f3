package io.github.grpcidempotency.event;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.KeyProblem;
import io.github.grpcidempotency.store.StoreException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/**
 * Something that happened to a call, to a piece of work, or to what serves them all. No event
 * carries a key, a request or a response. Each kind has one method of {@link IdempotencyListener},
 * which says when it is called.
 */
public sealed interface IdempotencyEvent {

  /** Calls the listener's method for this kind of event. */
  void accept(IdempotencyListener listener);

  /**
   * A call carries a well-formed key of a known caller.
   *
   * @param source where the key was found, as errors name it: a header, a field, a provider's event
   */
  record KeyFound(CallInfo call, String source) implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.keyFound(this);
    }
  }

  /**
   * A call carries no key, although its procedure takes one.
   *
   * @param refused whether its procedure requires one
   */
  record KeyMissing(CallInfo call, boolean refused) implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.keyMissing(this);
    }
  }

  /**
   * A call carries a malformed key.
   *
   * @param source where the key was found
   * @param problem what is wrong with it
   */
  record KeyInvalid(CallInfo call, String source, KeyProblem problem) implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.keyInvalid(this);
    }
  }

  /**
   * A key's source could not tell whether a call carries a key, or could not trust it.
   *
   * @param source the source, such as a provider's event
   * @param failure what went wrong
   */
  record ExtractionFailed(CallInfo call, String source, ExtractionFailure failure)
      implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.extractionFailed(this);
    }
  }

  /**
   * A claim was won.
   *
   * @param attempt which run of the operation this is, from 1; a later one has taken over from an
   *     owner that let its lease end
   * @param took how long the claim took
   */
  record Claimed(CallInfo call, UUID operationId, int attempt, Duration took)
      implements IdempotencyEvent {
    /** Returns whether this run has taken over from another one. */
    public boolean takeover() {
      return attempt > 1;
    }

    @Override
    public void accept(IdempotencyListener listener) {
      listener.claimed(this);
    }
  }

  /**
   * A recorded outcome is replayed.
   *
   * @param failure whether the recorded outcome is an error
   * @param took how long the claim took that found the record
   * @param trace the position in the trace of the run that made the answer, as its listener's
   *     {@link CallScope} gave it
   */
  record Replayed(
      CallInfo call, UUID operationId, boolean failure, Duration took, Optional<ByteString> trace)
      implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.replayed(this);
    }
  }

  /** A duplicate begins to wait for the call that holds its key. */
  record Attached(CallInfo call) implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.attached(this);
    }
  }

  /**
   * A duplicate has stopped waiting.
   *
   * @param waited how long it has waited
   * @param end why it waits no longer
   */
  record WaitEnded(CallInfo call, Duration waited, WaitEnd end) implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.waitEnded(this);
    }
  }

  /**
   * A call is refused.
   *
   * @param detail a word of a small set that says more: what differs of a reused key ({@code
   *     request}, {@code procedure}), or why the store is unavailable
   * @param operationId the operation that is in the way, if it is known
   */
  record Refused(
      CallInfo call, RefusalReason reason, Optional<String> detail, Optional<UUID> operationId)
      implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.refused(this);
    }
  }

  /**
   * A claim was settled. An answer that is recorded later is a {@link RecordedLate} instead.
   *
   * @param settlement what became of it
   * @param handler how long the handler ran
   * @param took how long the settlement took
   */
  record Settled(
      CallInfo call, UUID operationId, Settlement settlement, Duration handler, Duration took)
      implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.settled(this);
    }
  }

  /**
   * A claim could not be settled: a retry finds out whether its effect counts.
   *
   * @param settlement what should have become of it
   * @param cause what the store threw; empty if the claim's transaction was rolled back
   */
  record SettlementFailed(
      CallInfo call, UUID operationId, Settlement settlement, Optional<StoreException> cause)
      implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.settlementFailed(this);
    }
  }

  /** A call that carries a key runs, or ran, without the protection of the store. */
  record Unprotected(CallInfo call, UnprotectedCause cause) implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.unprotected(this);
    }
  }

  /** An owner found that it no longer owns its key. It has changed nothing. */
  record LeaseLost(CallInfo call, UUID operationId) implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.leaseLost(this);
    }
  }

  /**
   * An answer could not be recorded. It is retried in the background, within limits.
   *
   * @param cause why it could not be recorded
   */
  record RecordingDeferred(CallInfo call, UUID operationId, StoreException cause)
      implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.recordingDeferred(this);
    }
  }

  /**
   * A deferred answer has been recorded.
   *
   * @param late how long after its handler had ended
   */
  record RecordedLate(CallInfo call, UUID operationId, Duration late) implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.recordedLate(this);
    }
  }

  /**
   * The library has given up recording an answer whose effect has happened: recording failed too
   * often or for too long, too many answers were waiting, or the interceptor was closed. Once the
   * lease has ended, a retry runs the handler again.
   *
   * @param cause the last failure
   */
  record RecordingAbandoned(CallInfo call, UUID operationId, StoreException cause)
      implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.recordingAbandoned(this);
    }
  }

  /** A replay says {@code processing} because the state of the work behind it could not be read. */
  record StatusUnknown(CallInfo call, UUID operationId) implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.statusUnknown(this);
    }
  }

  /**
   * A record that is replayed, and whose retention begins anew with each replay, keeps the time at
   * which it expires: it could not be extended.
   *
   * @param cause what the store threw
   */
  record RetentionFailed(CallInfo call, UUID operationId, Throwable cause)
      implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.retentionFailed(this);
    }
  }

  /**
   * The leases of a process were renewed, all of a shard in one statement.
   *
   * @param held how many were to be renewed
   * @param lost how many of them belong to somebody else now
   * @param took how long it took
   * @param shard the shard, if the store has shards
   */
  record LeasesRenewed(int held, int lost, Duration took, Optional<String> shard)
      implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.leasesRenewed(this);
    }
  }

  /**
   * The leases of a process could not be renewed. They are tried again before they end.
   *
   * @param held how many were to be renewed
   * @param cause what the store threw
   * @param shard the shard, if the store has shards
   */
  record RenewalFailed(int held, Throwable cause, Optional<String> shard)
      implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.renewalFailed(this);
    }
  }

  /**
   * Expired records were swept.
   *
   * @param records how many were deleted
   * @param took how long it took
   * @param lag for how long the oldest of them had been expired; zero if there was none, empty if
   *     the sweeper cannot tell
   * @param shard the name that the sweeper was given for its database; empty if none
   */
  record Swept(long records, Duration took, Optional<Duration> lag, Optional<String> shard)
      implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.swept(this);
    }
  }

  /**
   * A sweep has failed. The next one begins where it ended.
   *
   * @param cause what the store threw
   * @param shard the name that the sweeper was given for its database; empty if none
   */
  record SweepFailed(Throwable cause, Optional<String> shard) implements IdempotencyEvent {
    @Override
    public void accept(IdempotencyListener listener) {
      listener.sweepFailed(this);
    }
  }
}
