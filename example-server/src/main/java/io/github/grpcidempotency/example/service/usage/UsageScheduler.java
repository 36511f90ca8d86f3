package io.github.grpcidempotency.example.service.usage;

import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.example.service.background.Repeating;
import io.github.grpcidempotency.work.WorkRefusedException;
import java.time.Duration;
import java.time.Instant;

/**
 * Starts the job whenever a period has ended. Every server has a scheduler, and the job runs once.
 * While another server is running the job, the scheduler retries, in case that server crashes.
 */
public final class UsageScheduler {
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

  private final UsageJob job;
  private Instant done = Instant.MIN;

  private UsageScheduler(UsageJob job) {
    this.job = job;
  }

  /**
   * Starts a scheduler. Its first period is the last one that has ended. The scheduler does not
   * close the job.
   */
  public static Repeating start(UsageJob job) {
    Duration tenth = job.every().dividedBy(10);
    Duration pause = tenth.compareTo(LONGEST_PAUSE) < 0 ? tenth : LONGEST_PAUSE;
    return Repeating.start("usage-scheduler", pause, new UsageScheduler(job)::seeToIt);
  }

  private void seeToIt() throws Exception {
    Instant due = job.lastDue();
    if (!due.isAfter(done)) {
      return;
    }
    try {
      job.run(due);
      done = due;
    } catch (WorkRefusedException e) {
      if (e.reason() != RefusalReason.IDEMPOTENCY_IN_PROGRESS) {
        throw e;
      }
    }
  }
}
