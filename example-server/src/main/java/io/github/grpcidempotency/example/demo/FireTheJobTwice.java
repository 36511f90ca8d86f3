package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.organization.v1.UsageStatement;
import io.github.grpcidempotency.example.service.usage.UsageJob;
import io.github.grpcidempotency.work.WorkRefusedException;
import io.github.grpcidempotency.work.WorkResult;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

final class FireTheJobTwice implements Step {
  private static final Duration DAY = Duration.ofDays(1);

  @Override
  public String title() {
    return "Without gRPC: two schedulers fire the same run of a nightly job at once";
  }

  @Override
  public void play(Stage stage, Story story) {
    Instant midnight = Instant.now().truncatedTo(ChronoUnit.DAYS).plus(DAY);
    story.sent("scheduler A and scheduler B: the usage statement due at " + midnight);
    try (UsageJob a = new UsageJob(stage.database().worker(), DAY);
        UsageJob b = new UsageJob(stage.database().worker(), DAY)) {
      fireAtOnce(a, b, midnight).forEach(story::cameBack);
      story.sent("scheduler B, once more");
      story.cameBack(fire("B", b, midnight));
    } catch (Exception e) {
      throw new IllegalStateException("the job failed", e);
    }
    story.counted(1, stage.rows().usageStatements(midnight), "usage statement for that day");
  }

  private static List<String> fireAtOnce(UsageJob a, UsageJob b, Instant due)
      throws InterruptedException, ExecutionException {
    ExecutorService threads = Executors.newFixedThreadPool(2);
    CyclicBarrier start = new CyclicBarrier(2);
    try {
      Future<String> first = threads.submit(fireAfter(start, "A", a, due));
      Future<String> second = threads.submit(fireAfter(start, "B", b, due));
      return List.of(first.get(), second.get());
    } finally {
      threads.shutdownNow();
    }
  }

  private static Callable<String> fireAfter(
      CyclicBarrier start, String name, UsageJob job, Instant due) {
    return () -> {
      start.await();
      return fire(name, job, due);
    };
  }

  private static String fire(String name, UsageJob job, Instant due) throws Exception {
    try {
      WorkResult<UsageStatement> result = job.run(due);
      return "%s: %s, %d creates by %d users"
          .formatted(
              name,
              result.replayed() ? "it had been run" : "it ran",
              result.value().getCreates(),
              result.value().getUsers());
    } catch (WorkRefusedException e) {
      return "%s: not run here, %s".formatted(name, e.reason());
    }
  }
}
