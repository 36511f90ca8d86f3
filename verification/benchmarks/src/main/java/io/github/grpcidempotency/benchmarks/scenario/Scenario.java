package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.report.Report;

/**
 * One measurement.
 *
 * @param name its name in tables and on the command line
 * @param measurement adds the results to its section of the report
 */
public record Scenario(String name, Measurement measurement) {
  /** The measurement itself. */
  public interface Measurement {
    /** Measures on a database of its own. */
    void run(DurableDatabase database, Pace pace, Report.Section report);
  }
}
