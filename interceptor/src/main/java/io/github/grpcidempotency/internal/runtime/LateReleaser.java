package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.support.DaemonThreads;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases keys that could not be released when their handlers failed. A handler often fails during
 * an outage of the database. Without this class, retries would be refused for the rest of the
 * lease, although the database is available again.
 *
 * <p>A release names its claim, so it changes nothing if it was done already, or if the key has
 * another owner now. If the releaser gives up, the lease ends by itself.
 *
 * <p>Thread-safe. One daemon thread.
 */
final class LateReleaser implements AutoCloseable {
  private static final Duration FIRST_DELAY = Duration.ofMillis(50);
  private static final Duration LONGEST_DELAY = Duration.ofSeconds(1);

  /** Enough for most leases, which end by themselves. */
  private static final int MAX_ATTEMPTS = 60;

  private static final int MAX_WAITING = 1_000;

  private static final Logger logger = LoggerFactory.getLogger(LateReleaser.class);

  private final AtomicInteger waiting = new AtomicInteger();
  private final ScheduledExecutorService timer =
      DaemonThreads.newTimer("idempotency-late-releaser");

  /** Releases a claim as soon as the store can. Does not block, and never throws. */
  void release(Claim claim) {
    if (waiting.incrementAndGet() > MAX_WAITING) {
      waiting.decrementAndGet();
    } else {
      tryLater(claim, 1, FIRST_DELAY);
    }
  }

  private void tryLater(Claim claim, int attempt, Duration delay) {
    ScheduledFuture<?> unused =
        timer.schedule(
            () -> tryAgain(claim, attempt, delay), delay.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void tryAgain(Claim claim, int attempt, Duration delay) {
    try {
      Settled unused = claim.release();
      waiting.decrementAndGet();
    } catch (Throwable stillOut) {
      logger.debug("could not release operation {} yet", claim.operationId(), stillOut);
      if (attempt == MAX_ATTEMPTS) {
        waiting.decrementAndGet();
      } else {
        Duration doubled = delay.multipliedBy(2);
        tryLater(
            claim, attempt + 1, doubled.compareTo(LONGEST_DELAY) < 0 ? doubled : LONGEST_DELAY);
      }
    }
  }

  /** Stops. The leases of the remaining claims end by themselves. */
  @Override
  public void close() {
    timer.shutdownNow();
  }
}
