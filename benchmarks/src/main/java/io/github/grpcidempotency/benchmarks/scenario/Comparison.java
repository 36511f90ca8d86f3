package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.load.Load;
import io.github.grpcidempotency.benchmarks.report.Kind;
import io.github.grpcidempotency.benchmarks.report.Report;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What several subjects came to in one round; the first of them is the bare handler. */
final class Comparison {
  private final Map<Subject, Measured> measured = new LinkedHashMap<>();

  private record Measured(Load load, double databaseMicros, double jvmMicros) {}

  void add(Subject subject, Load load, double databaseMicros, double jvmMicros) {
    measured.put(subject, new Measured(load, databaseMicros, jvmMicros));
  }

  void report(int callers, Report.Section report) {
    Load bare = measured.values().iterator().next().load();
    measured.forEach(
        (subject, own) -> {
          String label = subject.label();
          Load load = own.load();
          report.kind(label, subject.kind());
          report.add(label, callers, "throughput ratio", load.perSecond() / bare.perSecond());
          report.add(label, callers, "p50 ratio", load.millis().p50() / bare.millis().p50());
          report.add(label, callers, "p99 ratio", load.millis().p99() / bare.millis().p99());
          report.add(label, callers, "calls/s", load.perSecond());
          report.add(label, callers, "p50 (ms)", load.millis().p50());
          report.add(label, callers, "p90 (ms)", load.millis().p90());
          report.add(label, callers, "p99 (ms)", load.millis().p99());
          report.add(label, callers, "p99.9 (ms)", load.millis().p999());
          report.add(label, callers, "database CPU (µs)", own.databaseMicros());
          report.add(label, callers, "JVM CPU (µs)", own.jvmMicros());
        });
    for (Subject own : of(Kind.OURS)) {
      for (Subject peer : of(Kind.PEER)) {
        report
            .part("beside peers")
            .add(own.label(), callers, "times " + peer.label(), rate(own) / rate(peer));
      }
    }
  }

  private double rate(Subject subject) {
    return measured.entrySet().stream()
        .filter(each -> each.getKey().equals(subject))
        .mapToDouble(each -> each.getValue().load().perSecond())
        .sum();
  }

  private List<Subject> of(Kind kind) {
    return measured.keySet().stream().filter(subject -> subject.kind() == kind).toList();
  }
}
