package io.github.grpcidempotency.example.usage;

import io.github.grpcidempotency.decision.Refusal;
import io.github.grpcidempotency.example.organization.v1.UsageStatement;
import io.github.grpcidempotency.work.WorkRefusedException;
import io.github.grpcidempotency.work.WorkResult;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts the job whenever a period has ended. Every server has one of these and none knows of the
 * others: that the job runs once is left to the job. What another server is at is asked for again,
 * in case that server dies of it.
 */
public final class UsageScheduler implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(UsageScheduler.class);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
  private static final Duration STOP_WITHIN = Duration.ofSeconds(5);

  private final UsageJob job;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread thread = new Thread(this::runUntilClosed, "usage-scheduler");
  private Instant done = Instant.MIN;

  private UsageScheduler(UsageJob job) {
    this.job = job;
  }

  /** Starts a scheduler; the last period that has ended is the first one it sees to. */
  public static UsageScheduler start(UsageJob job) {
    UsageScheduler scheduler = new UsageScheduler(job);
    scheduler.thread.setDaemon(true);
    scheduler.thread.start();
    return scheduler;
  }

  private void runUntilClosed() {
    Duration tenth = job.every().dividedBy(10);
    Duration pause = tenth.compareTo(LONGEST_PAUSE) < 0 ? tenth : LONGEST_PAUSE;
    try {
      do {
        seeToIt();
      } while (!closed.await(pause.toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void seeToIt() throws InterruptedException {
    try {
      Instant due = job.lastDue();
      if (due.isAfter(done)) {
        tell(due, job.run(due));
        done = due;
      }
    } catch (WorkRefusedException e) {
      if (e.refusal().reason() != Refusal.Reason.IDEMPOTENCY_IN_PROGRESS) {
        log.warn("No usage statement: {}", e.getMessage());
      }
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      log.warn("The usage could not be stated and will be tried again: {}", e.getMessage());
    }
  }

  private static void tell(Instant due, WorkResult<UsageStatement> result) {
    log.debug(
        "usage until {}: {} creates{}",
        due,
        result.value().getCreates(),
        result.replayed() ? ", stated before" : "");
  }

  /** Stops the scheduler once a run that has begun is over. The job is not closed. */
  @Override
  public void close() {
    closed.countDown();
    try {
      thread.join(STOP_WITHIN.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
