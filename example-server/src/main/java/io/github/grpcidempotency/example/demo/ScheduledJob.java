package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.example.organization.v1.UsageStatement;
import io.github.grpcidempotency.example.service.usage.UsageJob;
import io.github.grpcidempotency.work.WorkResult;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Work that does not arrive by gRPC runs under the same guarantees. */
final class ScheduledJob implements Scene {
  @Override
  public String title() {
    return "Without gRPC: the schedulers of two servers start the same run of a nightly job";
  }

  @Override
  public void play(Stage stage, Story story) throws Exception {
    Duration day = Duration.ofDays(1);
    Instant midnight = Instant.now().truncatedTo(ChronoUnit.DAYS).plus(day);
    IdempotencyListener nobody = new IdempotencyListener() {};
    try (UsageJob one = new UsageJob(stage.database().worker(), day, nobody);
        UsageJob other = new UsageJob(stage.database().worker(), day, nobody)) {
      story.sent("server 1: the usage statement due at " + midnight);
      WorkResult<UsageStatement> first = one.run(midnight);
      story.cameBack(first.value().getCreates() + " creates");
      story.sent("server 2: the same");
      WorkResult<UsageStatement> second = other.run(midnight);
      story.cameBack(second.value().getCreates() + " creates");
      story.expect(
          "the second run returns the first statement",
          second.replayed() && second.value().equals(first.value()));
    }
    story.counted(
        1,
        stage.count("billing.usage_statements WHERE until = ?", midnight),
        "usage statement for that day");
  }
}
