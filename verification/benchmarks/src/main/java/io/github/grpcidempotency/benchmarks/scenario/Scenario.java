package io.github.grpcidempotency.benchmarks.scenario;

import com.google.common.collect.Sets;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.report.Report;
import java.io.IOException;
import java.util.Set;

/**
 * One measurement.
 *
 * @param name its name in tables and on the command line
 * @param measurement adds the results to its section of the report
 * @param options those that have an effect on it
 */
public record Scenario(String name, Measurement measurement, Set<String> options) {
  /** The measurement itself. */
  public interface Measurement {
    /** Measures on a database of its own. */
    void run(DurableDatabase database, Pace pace, Report.Section report) throws IOException;
  }

  /** Creates a scenario. The options of the database affect it too. */
  public static Scenario of(String name, Measurement measurement, String... options) {
    return new Scenario(
        name, measurement, Sets.union(Set.of(options), Set.of("--resource-types", "--set")));
  }
}
