package io.github.grpcidempotency.benchmarks.report;

import java.util.List;
import java.util.Locale;

/**
 * The minimum or maximum that a result should have. Each aim was decided before the measurement.
 */
record Aim(String scenario, String variant, int calls, String metric, boolean least, double bound) {
  private static final String FIRST_STATEMENT = "transactional with the first statement";
  private static final String JOINED = "reserved, same database, joined completion and commit";

  /** Matches every variant. */
  private static final String ANY = "*";

  static final List<Aim> ALL =
      List.of(
          atLeast("calls", FIRST_STATEMENT, 16, "throughput ratio", 0.80),
          atLeast("calls across a network", FIRST_STATEMENT, 4, "throughput ratio", 0.95),
          atMost("calls across a network", FIRST_STATEMENT, 4, "p50 ratio", 1.05),
          atLeast("calls", JOINED, 16, "throughput ratio", 0.55),
          atLeast("calls across a network", JOINED, 4, "throughput ratio", 0.72),
          atLeast("calls", "reserved, same database", 16, "throughput ratio", 0.50),
          atLeast("calls", "replay of transactional, with the hint", 16, "throughput ratio", 2.0),
          atLeast("calls beside peers", ANY, 16, "times idempotency4j", 1.1),
          atLeast("calls beside peers", "reserved, same database", 16, "times idempotence4j", 1),
          atLeast("calls beside peers", ANY, 16, "times DBOS, workflow only", 2),
          atLeast("calls beside peers", ANY, 16, "times DBOS, workflow and step", 2),
          atLeast("calls beside peers", ANY, 16, "times DBOS, step in the handler's commit", 2));

  private static Aim atLeast(
      String scenario, String variant, int calls, String metric, double bound) {
    return new Aim(scenario, variant, calls, metric, true, bound);
  }

  private static Aim atMost(
      String scenario, String variant, int calls, String metric, double bound) {
    return new Aim(scenario, variant, calls, metric, false, bound);
  }

  boolean isFor(Result result) {
    return scenario.equals(result.scenario())
        && (variant.equals(ANY) || variant.equals(result.variant()))
        && calls == result.calls()
        && metric.equals(result.metric());
  }

  boolean isMetBy(Result result) {
    return least ? result.value() >= bound : result.value() <= bound;
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%s %s", least ? "≥" : "≤", Result.plain(bound));
  }
}
