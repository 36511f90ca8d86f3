package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.report.Report;

/** One measurement. */
public interface Scenario {
  /** Returns the name that tables and the command line know it by. */
  String name();

  /** Returns whether its database can be kept, so that another run finds it loaded. */
  default boolean canBeKept() {
    return false;
  }

  /** Measures, and adds the results to the report. */
  void run(DurableDatabase database, Pace pace, Report report);
}
