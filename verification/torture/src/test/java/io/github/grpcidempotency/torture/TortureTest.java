package io.github.grpcidempotency.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tortures the library as it is. */
class TortureTest {
  @Test
  void nothingIsBrokenInAShortRun() throws InterruptedException {
    torture(Plan.brief(), Long.getLong("torture.seed", 1));
  }

  @Test
  @Tag("torture")
  void nothingIsBrokenInALongRun() throws InterruptedException {
    torture(
        Plan.everything(Duration.ofMinutes(Long.getLong("torture.minutes", 10))),
        Long.getLong("torture.seed", 1));
  }

  /** What calls leave behind is seen where no server dies. */
  @Test
  @Tag("torture")
  void nothingIsLeftBehindWhereNoServerDies() throws InterruptedException {
    torture(Plan.undisturbed(Duration.ofSeconds(60)), Long.getLong("torture.seed", 1));
  }

  private static void torture(Plan plan, long seed) throws InterruptedException {
    try (TorturePostgres postgres = TorturePostgres.start()) {
      TortureReport report = TortureReport.run(plan, seed, postgres);
      assertThat(report.violations()).isEmpty();
      assertThat(report.exercise().shortcomings(plan)).as("a vacuous run").isEmpty();
    }
  }
}
