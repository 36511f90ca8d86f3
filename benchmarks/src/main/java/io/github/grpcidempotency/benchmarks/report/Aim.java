package io.github.grpcidempotency.benchmarks.report;

import java.util.List;
import java.util.Locale;

/** What a number should be at least, or at most; decided before it was measured. */
record Aim(String scenario, String variant, int calls, String metric, boolean least, double bound) {
  static final List<Aim> ALL =
      List.of(
          atLeast("calls", "transactional", 16, "throughput ratio", 0.70),
          atMost("calls", "transactional", 16, "p50 ratio", 1.45),
          atMost("cost of a call", "transactional", 1, "flushes of the log", 1.05),
          atMost("cost of a call", "transactional", 1, "extra round trips", 1),
          atLeast("calls", "reserved, same database", 16, "throughput ratio", 0.46),
          atMost("cost of a call", "reserved, same database", 1, "flushes of the log", 2.05),
          atMost("cost of a call", "reserved, same database", 1, "extra round trips", 2),
          atLeast(
              "calls", "reserved, same database, joined completion", 16, "throughput ratio", 0.52),
          atLeast("calls", "replay of reserved", 16, "throughput ratio", 2.4),
          atLeast("calls", "replay of transactional", 16, "throughput ratio", 2.4),
          atMost("cost of a call", "replay of reserved", 1, "flushes of the log", 0.01),
          atMost("cost of a call", "replay of transactional", 1, "flushes of the log", 0.01),
          atMost("storm", "reserved", 64, "most handler runs of a key", 1),
          atMost("storm", "transactional", 64, "most handler runs of a key", 1),
          atMost("storm", "reserved, attaching", 64, "most handler runs of a key", 1),
          atMost("storm", "transactional, attaching", 64, "most handler runs of a key", 1),
          atLeast("starvation", "reserved", 64, "unrelated throughput ratio", 0.8),
          atLeast("starvation", "transactional", 64, "unrelated throughput ratio", 0.8),
          atLeast("starvation", "reserved, attaching", 64, "unrelated throughput ratio", 0.8),
          atLeast("starvation", "transactional, attaching", 64, "unrelated throughput ratio", 0.8),
          atLeast("live keys", "UUIDv7 keys", 16, "claims ratio", 0.9),
          atMost("interceptor alone", "interceptor", 1, "time per call (µs)", 5),
          atMost("interceptor alone", "interceptor", 1, "allocation per call (B)", 4096));

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
        && variant.equals(result.variant())
        && calls == result.calls()
        && metric.equals(result.metric());
  }

  boolean isMetBy(Result result) {
    return least ? result.value() >= bound : result.value() <= bound;
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%s %s", least ? "≥" : "≤", Numbers.plain(bound));
  }
}
