package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.load.Load;
import io.github.grpcidempotency.benchmarks.load.Load.Latencies;
import io.github.grpcidempotency.benchmarks.report.Kind;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.report.Rounds;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** What several subjects came to, round by round; the first of them is the bare handler. */
final class Comparison {
  private final List<Subject> subjects;
  private final Map<Subject, List<Measured>> rounds = new LinkedHashMap<>();

  private record Measured(Load load, double databaseMicros, double jvmMicros) {}

  private interface Metric {
    double of(Measured measured, Measured bare);
  }

  /** In the order of the tables' columns. */
  private static final Map<String, Metric> METRICS = metrics();

  Comparison(List<Subject> subjects) {
    this.subjects = subjects;
  }

  /** Adds the next round of a subject. */
  void add(Subject subject, Load load, double databaseMicros, double jvmMicros) {
    rounds
        .computeIfAbsent(subject, first -> new ArrayList<>())
        .add(new Measured(load, databaseMicros, jvmMicros));
  }

  void report(String scenario, int callers, Report report) {
    for (Subject subject : subjects) {
      report.kind(subject.label(), subject.kind());
      METRICS.forEach(
          (name, metric) ->
              report.add(
                  scenario,
                  subject.label(),
                  callers,
                  name,
                  roundByRound(subject, subjects.get(0), metric)));
    }
    for (Subject own : of(Kind.OURS)) {
      for (Subject peer : of(Kind.PEER)) {
        report.add(
            scenario + " beside peers",
            own.label(),
            callers,
            "times " + peer.label(),
            roundByRound(
                own, peer, (mine, others) -> mine.load().perSecond() / others.load().perSecond()));
      }
    }
  }

  private List<Subject> of(Kind kind) {
    return subjects.stream().filter(subject -> subject.kind() == kind).toList();
  }

  private Rounds roundByRound(Subject subject, Subject other, Metric metric) {
    List<Measured> mine = rounds.getOrDefault(subject, List.of());
    List<Measured> others = rounds.getOrDefault(other, List.of());
    Rounds values = new Rounds();
    IntStream.range(0, mine.size())
        .forEach(round -> values.add(metric.of(mine.get(round), others.get(round))));
    return values;
  }

  private static Map<String, Metric> metrics() {
    Map<String, Metric> metrics = new LinkedHashMap<>();
    metrics.put(
        "throughput ratio", (mine, bare) -> mine.load().perSecond() / bare.load().perSecond());
    metrics.put("p50 ratio", (mine, bare) -> latencies(mine).p50() / latencies(bare).p50());
    metrics.put("p99 ratio", (mine, bare) -> latencies(mine).p99() / latencies(bare).p99());
    metrics.put("calls/s", (mine, bare) -> mine.load().perSecond());
    metrics.put("p50 (ms)", (mine, bare) -> latencies(mine).p50());
    metrics.put("p90 (ms)", (mine, bare) -> latencies(mine).p90());
    metrics.put("p99 (ms)", (mine, bare) -> latencies(mine).p99());
    metrics.put("p99.9 (ms)", (mine, bare) -> latencies(mine).p999());
    metrics.put("database CPU (µs)", (mine, bare) -> mine.databaseMicros());
    metrics.put("JVM CPU (µs)", (mine, bare) -> mine.jvmMicros());
    return metrics;
  }

  private static Latencies latencies(Measured measured) {
    return measured.load().millis();
  }
}
