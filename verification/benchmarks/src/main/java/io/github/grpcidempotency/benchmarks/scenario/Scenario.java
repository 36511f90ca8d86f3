package io.github.grpcidempotency.benchmarks.scenario;

import com.google.common.collect.Sets;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.report.Report;
import java.io.IOException;
import java.util.Set;

/**
 * One measurement.
 *
 * @param name that tables and the command line know it by
 * @param measurement adds the results to its section of the report
 * @param options those that have an effect on it
 */
public record Scenario(String name, Measurement measurement, Set<String> options) {
  /** What is done. */
  public interface Measurement {
    /** Measures on a database of its own. */
    void run(DurableDatabase database, Pace pace, Report.Section report) throws IOException;
  }

  /** Makes a scenario; the options of the database have an effect on it as well. */
  public static Scenario of(String name, Measurement measurement, String... options) {
    return new Scenario(
        name, measurement, Sets.union(Set.of(options), Set.of("--resource-types", "--set")));
  }
}
