package io.github.grpcidempotency.benchmarks.scenario;

import com.sun.management.OperatingSystemMXBean;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.ServerCpu;
import io.github.grpcidempotency.benchmarks.load.Client;
import io.github.grpcidempotency.benchmarks.load.ClosedLoop;
import io.github.grpcidempotency.benchmarks.load.Load;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.report.Rounds;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Every variant against the bare handler, in interleaved rounds: bare, A, B, …, bare, A, B, …. A
 * ratio is taken within its round, so that a slow minute of the machine slows both sides.
 */
public final class Calls implements Scenario {
  private static final int WARM_UP_ROUNDS = 2;
  private static final OperatingSystemMXBean JVM =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  /** The numbers of one subject. */
  private static final class Numbers {
    private final Map<String, Rounds> byMetric = new LinkedHashMap<>();

    void add(String metric, double value) {
      byMetric.computeIfAbsent(metric, name -> new Rounds()).add(value);
    }
  }

  @Override
  public String name() {
    return "calls";
  }

  @Override
  public void run(DurableDatabase database, Pace pace, Report report) {
    try (BenchmarkServer server = BenchmarkServer.start(database, pace.connections());
        Client client = new Client(server.port())) {
      List<Subject> subjects = Subject.of(client, pace.selection());
      for (int callers : pace.callers()) {
        report.progress("%s: %d at once, warming up", name(), callers);
        for (Subject subject : subjects) {
          ClosedLoop.run(subject.operation(), callers, pace.round().multipliedBy(WARM_UP_ROUNDS));
        }
        compare(database, subjects, callers, pace, report);
      }
    }
  }

  private void compare(
      DurableDatabase database, List<Subject> subjects, int callers, Pace pace, Report report) {
    ServerCpu databaseCpu = new ServerCpu(database.superuser());
    Map<String, Numbers> numbers = new LinkedHashMap<>();
    for (int round = 1; round <= pace.rounds(); round++) {
      report.progress("%s: %d at once, round %d of %d", name(), callers, round, pace.rounds());
      Load bare = new Load(1, 1, 1, 1);
      for (Subject subject : subjects) {
        Duration databaseBefore = databaseCpu.used();
        long jvmBefore = JVM.getProcessCpuTime();
        Load load = ClosedLoop.run(subject.operation(), callers, pace.round());
        double jvmMicros = (JVM.getProcessCpuTime() - jvmBefore) / 1e3;
        double databaseMicros = databaseCpu.used().minus(databaseBefore).toNanos() / 1e3;
        if (subject.equals(subjects.get(0))) {
          bare = load;
        }
        Numbers mine = numbers.computeIfAbsent(subject.label(), label -> new Numbers());
        mine.add("throughput ratio", load.perSecond() / bare.perSecond());
        mine.add("p50 ratio", load.p50Millis() / bare.p50Millis());
        mine.add("p99 ratio", load.p99Millis() / bare.p99Millis());
        mine.add("calls/s", load.perSecond());
        mine.add("p50 (ms)", load.p50Millis());
        mine.add("p99 (ms)", load.p99Millis());
        mine.add("database CPU (µs)", databaseMicros / load.operations());
        mine.add("JVM CPU (µs)", jvmMicros / load.operations());
      }
    }
    numbers.forEach(
        (label, mine) ->
            mine.byMetric.forEach(
                (metric, rounds) -> report.add(name(), label, callers, metric, rounds)));
  }
}
