package io.github.grpcidempotency.internal.settling;

import static io.github.grpcidempotency.spi.FailurePhase.HANDLER_DONE;
import static io.github.grpcidempotency.store.FailureCause.OTHER;

import com.google.common.base.Stopwatch;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.github.grpcidempotency.background.DaemonThreads;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.store.StoreException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settles reservations whose settlement failed.
 *
 * <ul>
 *   <li>Recording an answer is retried until the answer is recorded, or another call owns the key,
 *       because the effect has happened. Until then the lease is renewed, so that this process does
 *       not run duplicates of the call. At the {@link Limits}, an event is emitted, the outcome is
 *       marked as unknown if the store can do that, and the lease ends.
 *   <li>Releasing a key is retried for about as long as most leases last. A handler often fails
 *       during an outage of the database; without this class, retries would be refused for the rest
 *       of the lease, although the database is available again. After the last attempt, the lease
 *       ends by itself.
 * </ul>
 *
 * <p>Every settlement names its claim, so it changes nothing if it was done already, or if the key
 * has another owner now.
 *
 * <p>One daemon thread.
 */
public final class LateSettler implements AutoCloseable {
  private static final Duration FIRST_DELAY = Duration.ofMillis(50);
  private static final Duration LONGEST_DELAY = Duration.ofSeconds(1);
  private static final Duration LONGEST_DELAY_UNTIL_A_REPAIR = Duration.ofSeconds(30);
  private static final Duration PATIENCE_AT_CLOSE = Duration.ofSeconds(5);

  private static final int MAX_RELEASE_ATTEMPTS = 60;
  private static final int MAX_RELEASES = 1_000;

  private static final Logger logger = LoggerFactory.getLogger(LateSettler.class);

  private final RateLimitedLog log = RateLimitedLog.of(logger);
  private final Limits limits;
  private final ScheduledExecutorService timer;
  private final Semaphore releases = new Semaphore(MAX_RELEASES);
  private volatile int count;

  @GuardedBy("this")
  private final Set<LateAnswer> waiting = new LinkedHashSet<>();

  @GuardedBy("this")
  private long waitingBytes;

  @GuardedBy("this")
  private boolean closed;

  /**
   * How many answers wait, and for how long.
   *
   * @param answers how many answers may wait in this process
   * @param bytes the total size of these answers and their requests
   * @param time how long recording of an answer is retried, or its retention if that is shorter
   */
  record Limits(int answers, long bytes, Duration time) {
    static final Limits DEFAULT = new Limits(1_000, 64L << 20, Duration.ofHours(1));

    /** An outage may last longer than the handlers of a service. */
    Limits atLeast(Duration other) {
      return other.compareTo(time) > 0 ? new Limits(answers, bytes, other) : this;
    }
  }

  /**
   * @param callLimit how long the lease of a call may be renewed
   */
  public LateSettler(Duration callLimit) {
    this(Limits.DEFAULT.atLeast(callLimit));
  }

  LateSettler(Limits limits) {
    this(limits, DaemonThreads.newTimer("idempotency-late-settler"));
  }

  LateSettler(Limits limits, ScheduledExecutorService timer) {
    this.limits = limits;
    this.timer = timer;
  }

  /** Takes over an operation, and records its answer as soon as the store can. Does not block. */
  void record(OwnedClaim operation, RecordedOutcome outcome, StoreException cause) {
    LateAnswer answer = new LateAnswer(operation, outcome, cause);
    operation.settleLater();
    boolean kept = false;
    try {
      if (keep(answer)) {
        operation.events().recordingDeferred(operation.claim().operationId(), cause);
        answer.tryLater();
        kept = true;
      }
    } finally {
      if (!kept) {
        forget(answer);
        answer.abandon();
      }
    }
  }

  /** Releases a key as soon as the store can. Does not block. */
  void release(OwnedClaim operation) {
    if (releases.tryAcquire()) {
      releaseLater(operation, 1, FIRST_DELAY);
    }
  }

  private void releaseLater(OwnedClaim operation, int attempt, Duration delay) {
    boolean waits = false;
    try {
      schedule(() -> tryRelease(operation, attempt, delay), delay);
      waits = true;
    } finally {
      if (!waits) {
        releases.release();
      }
    }
  }

  private void tryRelease(OwnedClaim operation, int attempt, Duration delay) {
    try {
      operation.claim().release();
    } catch (Throwable stillOut) {
      if (attempt < MAX_RELEASE_ATTEMPTS) {
        logger.debug("could not release {} yet", operation.claim().operationId(), stillOut);
        releaseLater(operation, attempt + 1, longer(delay, LONGEST_DELAY));
        return;
      }
    }
    releases.release();
  }

  private void schedule(Runnable attempt, Duration delay) {
    ScheduledFuture<?> unused = timer.schedule(attempt, delay.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static Duration longer(Duration delay, Duration longest) {
    Duration doubled = delay.multipliedBy(2);
    return doubled.compareTo(longest) < 0 ? doubled : longest;
  }

  /**
   * Tries to record every answer once more, for a few seconds at most. If an answer is still not
   * recorded, a retry runs its handler again once the lease has ended.
   */
  @Override
  public void close() {
    if (timer.isShutdown()) {
      return;
    }
    for (LateAnswer answer : closeDoor()) {
      schedule(answer::tryAgain, Duration.ZERO);
    }
    try {
      timer.submit(() -> {}).get(PATIENCE_AT_CLOSE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException hurry) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException late) {
      log.warn("close", late, "could not retry all unrecorded answers before closing");
    }
    timer.shutdownNow();
    allWaiting().forEach(LateAnswer::giveUp);
  }

  /** Returns how many answers wait to be recorded. Does not block. */
  public int count() {
    return count;
  }

  private synchronized List<LateAnswer> closeDoor() {
    closed = true;
    return allWaiting();
  }

  private synchronized boolean keep(LateAnswer answer) {
    boolean fits =
        !closed
            && waiting.size() < limits.answers
            && waitingBytes + answer.bytes <= limits.bytes
            && waiting.add(answer);
    waitingBytes += fits ? answer.bytes : 0;
    count = waiting.size();
    return fits;
  }

  /**
   * Removes an answer. Returns whether it was still waiting; only a caller that gets {@code true}
   * reports its end.
   */
  private synchronized boolean forget(LateAnswer answer) {
    boolean waited = waiting.remove(answer);
    waitingBytes -= waited ? answer.bytes : 0;
    count = waiting.size();
    return waited;
  }

  private synchronized boolean isWaiting(LateAnswer answer) {
    return waiting.contains(answer);
  }

  private synchronized List<LateAnswer> allWaiting() {
    return List.copyOf(waiting);
  }

  private static int sizeOf(RecordedOutcome outcome) {
    if (outcome instanceof RecordedOutcome.Response response) {
      return response.bytes().size();
    }
    return outcome instanceof RecordedOutcome.Failure failure ? failure.bytes().size() : 0;
  }

  private final class LateAnswer {
    private final OwnedClaim operation;
    private final Claim claim;
    private final RecordedOutcome outcome;
    private final int bytes;
    private final Stopwatch sinceFirst = Stopwatch.createStarted();
    private volatile StoreException failure;
    private Duration delay = FIRST_DELAY;

    LateAnswer(OwnedClaim operation, RecordedOutcome outcome, StoreException failure) {
      this.operation = operation;
      this.claim = operation.claim();
      this.outcome = outcome;
      this.failure = failure;
      this.bytes = sizeOf(outcome) + operation.request().message().getSerializedSize();
    }

    void tryLater() {
      schedule(this::tryAgain, delay);
    }

    void tryAgain() {
      if (!isWaiting(this)) {
        return;
      }
      boolean ended = false;
      try {
        tryNow();
        ended = true;
      } finally {
        if (!ended) {
          giveUp();
        }
      }
    }

    /** Records the answer, or tries later. Throws if there is no memory for that. */
    private void tryNow() {
      try {
        end(Settler.record(operation, outcome));
      } catch (StoreException stillOut) {
        onFailure(stillOut);
      } catch (Throwable unexpected) {
        onFailure(
            StoreException.of(HANDLER_DONE, OTHER, "cannot be recorded").initCause(unexpected));
      }
    }

    private void end(Settled settled) {
      if (!forget(this)) {
        return;
      }
      operation.end();
      switch (settled) {
        case DONE, UNREFERRED ->
            operation.events().recordedLate(claim.operationId(), operation.sinceHandlerEnded());
        case LOST, PREEMPTED -> operation.leaseLost();
        case ROLLED_BACK ->
            operation
                .events()
                .settlementFailed(claim.operationId(), Settlement.COMPLETE, null, false);
      }
    }

    private void onFailure(StoreException latest) {
      failure = latest;
      Duration passed = Duration.ofNanos(sinceFirst.elapsed(TimeUnit.NANOSECONDS));
      if (passed.compareTo(time()) > 0) {
        markUnknown();
        giveUp();
      } else {
        logger.debug("could not record the answer of {} yet", this, latest);
        boolean passes = latest.failureCause().isTemporary();
        delay = longer(delay, passes ? LONGEST_DELAY : LONGEST_DELAY_UNTIL_A_REPAIR);
        tryLater();
      }
    }

    private Duration time() {
      Duration retention = operation.request().retention();
      return retention.compareTo(limits.time) < 0 ? retention : limits.time;
    }

    private void markUnknown() {
      try {
        claim.markUnknown();
      } catch (Throwable unmarked) {
        log.warn("mark", unmarked, "could not mark the outcome of %s as unknown".formatted(this));
      }
    }

    void giveUp() {
      if (forget(this)) {
        abandon();
      }
    }

    /**
     * Gives up. The effect has happened, so the key is not released, but stays reserved until its
     * lease ends.
     */
    void abandon() {
      operation.end();
      operation.events().recordingAbandoned(claim.operationId(), failure);
    }

    @Override
    public String toString() {
      return "operation " + claim.operationId();
    }
  }
}
