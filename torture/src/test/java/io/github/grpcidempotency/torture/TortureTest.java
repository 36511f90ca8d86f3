package io.github.grpcidempotency.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tortures the library as it is. */
class TortureTest {
  @Test
  void nothingIsBrokenInAShortRun() throws InterruptedException {
    torture(Duration.ofSeconds(20), Long.getLong("torture.seed", 1));
  }

  @Test
  @Tag("torture")
  void nothingIsBrokenInALongRun() throws InterruptedException {
    torture(
        Duration.ofMinutes(Long.getLong("torture.minutes", 10)), Long.getLong("torture.seed", 1));
  }

  private static void torture(Duration length, long seed) throws InterruptedException {
    try (TorturePostgres postgres = TorturePostgres.start()) {
      TortureReport report = TortureReport.run(Plan.everything(length), seed, postgres);
      assertThat(report.violations()).isEmpty();
      assertThat(report.exercise().shortcomings()).as("a vacuous run").isEmpty();
    }
  }
}
