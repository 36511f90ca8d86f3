package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.report.Report;
import java.util.Set;

/** One measurement. */
public interface Scenario {
  /** Returns the name that tables and the command line know it by. */
  String name();

  /**
   * Returns the options of {@link Pace} that have an effect on it, as the command line has them.
   */
  Set<String> options();

  /** Returns whether it measures the database, so that the database's options have an effect. */
  default boolean usesDatabase() {
    return true;
  }

  /** Measures, and adds the results to its section of the report. */
  void run(DurableDatabase database, Pace pace, Report.Section report);
}
