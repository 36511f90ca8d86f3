package io.github.grpcidempotency.example.service.usage;

import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.example.service.background.Repeating;
import io.github.grpcidempotency.work.WorkRefusedException;
import java.time.Duration;
import java.time.Instant;

/**
 * Starts the job whenever a period has ended. Every server has one of these and none knows of the
 * others: that the job runs once is left to the job. What another server is at is asked for again,
 * in case that server dies of it.
 */
public final class UsageScheduler {
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

  private final UsageJob job;
  private Instant done = Instant.MIN;

  private UsageScheduler(UsageJob job) {
    this.job = job;
  }

  /**
   * Starts a scheduler; the last period that has ended is the first one it sees to. The job is not
   * closed with it.
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
