package io.github.grpcidempotency.runtime;

import com.google.common.base.Stopwatch;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.StoreException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records answers whose recording failed: their effect has happened, so they are tried again until
 * the store says that they are recorded, or that somebody else owns the key. Until then the claim
 * stays held, so that this process does not run its duplicates. It gives up once the record would
 * have expired.
 *
 * <p>Thread-safe. One daemon thread.
 */
final class LateRecorder implements AutoCloseable {
  private static final Logger logger = LoggerFactory.getLogger(LateRecorder.class);
  private static final long FIRST_DELAY_MILLIS = 50;
  private static final long LONGEST_DELAY_MILLIS = 1_000;

  private final LeaseKeeper leases;
  private final SafeListener listener;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("idempotency-late-recorder"));

  /** Makes a recorder that holds its claims with a lease keeper. */
  public LateRecorder(LeaseKeeper leases, SafeListener listener) {
    this.leases = leases;
    this.listener = listener;
  }

  /** Records an answer as soon as the store can. */
  public void record(Claim claim, RecordedOutcome outcome, StoreException cause) {
    logger.warn(
        "could not record the answer of operation {}; trying again", claim.operationId(), cause);
    listener.tell(events -> events.recordingDeferred(claim.operationId(), cause));
    Attempt attempt = new Attempt(claim, outcome);
    leases.hold(claim, attempt);
    attempt.schedule(FIRST_DELAY_MILLIS);
  }

  /** Stops trying. What is not recorded yet is run again by a retry once its lease has ended. */
  @Override
  public void close() {
    timer.shutdownNow();
  }

  private final class Attempt {
    private final Claim claim;
    private final RecordedOutcome outcome;
    private final Stopwatch sinceFirst = Stopwatch.createStarted();

    Attempt(Claim claim, RecordedOutcome outcome) {
      this.claim = claim;
      this.outcome = outcome;
    }

    void schedule(long delayMillis) {
      ScheduledFuture<?> unused =
          timer.schedule(() -> run(delayMillis), delayMillis, TimeUnit.MILLISECONDS);
    }

    private void run(long delayMillis) {
      try {
        Settled settled = claim.complete(outcome);
        leases.drop(claim);
        report(settled);
      } catch (StoreException stillOut) {
        if (sinceFirst.elapsed().compareTo(claim.request().procedure().retention()) < 0) {
          schedule(Math.min(2 * delayMillis, LONGEST_DELAY_MILLIS));
        } else {
          leases.drop(claim);
          logger.error("gave up recording the answer of {}", claim.operationId(), stillOut);
        }
      } catch (RuntimeException unexpected) {
        leases.drop(claim);
        logger.error("could not record the answer of {}", claim.operationId(), unexpected);
      }
    }

    private void report(Settled settled) {
      switch (settled) {
        case DONE -> {
          logger.info("recorded the answer of operation {} at last", claim.operationId());
          listener.tell(events -> events.recordedLate(claim.operationId()));
        }
        case LOST, ROLLED_BACK -> {
          logger.warn(
              "operation {} was taken over before its answer was recorded", claim.operationId());
          listener.tell(events -> events.leaseLost(claim.operationId()));
        }
      }
    }
  }
}
