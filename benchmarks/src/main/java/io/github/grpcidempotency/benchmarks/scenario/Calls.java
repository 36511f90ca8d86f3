package io.github.grpcidempotency.benchmarks.scenario;

import com.google.common.collect.Sets;
import com.sun.management.OperatingSystemMXBean;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.ServerCpu;
import io.github.grpcidempotency.benchmarks.load.Client;
import io.github.grpcidempotency.benchmarks.load.ClosedLoop;
import io.github.grpcidempotency.benchmarks.load.Load;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * Every variant against the bare handler, in interleaved rounds: bare, A, B, …, bare, A, B, …. A
 * ratio is taken within its round, so that a slow minute of the machine slows both sides.
 *
 * @param name of the scenario
 * @param isAcrossNetwork whether the database is a network away
 */
public record Calls(String name, boolean isAcrossNetwork) implements Scenario {
  private static final int WARM_UP_ROUNDS = 2;
  private static final OperatingSystemMXBean JVM =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
  private static final Set<String> OPTIONS =
      Set.of("--seconds", "--rounds", "--variants", "--concurrency", "--connections");

  /** Makes the comparison with a database on the same machine. */
  public static Calls onOneMachine() {
    return new Calls("calls", false);
  }

  /** Makes the comparison with a database that is a network away. */
  public static Calls acrossNetwork() {
    return new Calls("calls across a network", true);
  }

  @Override
  public Set<String> options() {
    return isAcrossNetwork ? Sets.union(OPTIONS, Set.of("--network-micros")) : OPTIONS;
  }

  @Override
  public void run(DurableDatabase database, Pace pace, Report.Section report) {
    Duration longer = isAcrossNetwork ? pace.network() : Duration.ZERO;
    report.note(
        "network",
        "a round trip to the database takes %,d µs longer than on this machine"
            .formatted(longer.toNanos() / 1_000));
    try (BenchmarkServer server = BenchmarkServer.start(database, pace.connections(), longer);
        Client client = new Client(server.port())) {
      List<Subject> subjects = Subject.of(client, pace.selection());
      for (int callers : pace.callers()) {
        report.progress("%d at once, warming up", callers);
        for (Subject subject : subjects) {
          ClosedLoop.run(subject.operation(), callers, pace.round().multipliedBy(WARM_UP_ROUNDS));
        }
        database.analyze();
        for (int round = 1; round <= pace.rounds(); round++) {
          report.progress("%d at once, round %d of %d", callers, round, pace.rounds());
          compare(database, subjects, callers, pace.round()).report(callers, report);
        }
      }
    }
  }

  private static Comparison compare(
      DurableDatabase database, List<Subject> subjects, int callers, Duration time) {
    ServerCpu databaseCpu = new ServerCpu(database.superuser());
    Comparison comparison = new Comparison();
    for (Subject subject : subjects) {
      Duration databaseBefore = databaseCpu.used();
      long jvmBefore = JVM.getProcessCpuTime();
      Load load = ClosedLoop.run(subject.operation(), callers, time);
      double jvmMicros = (JVM.getProcessCpuTime() - jvmBefore) / 1e3;
      double databaseMicros = databaseCpu.used().minus(databaseBefore).toNanos() / 1e3;
      comparison.add(
          subject, load, databaseMicros / load.operations(), jvmMicros / load.operations());
    }
    return comparison;
  }
}
