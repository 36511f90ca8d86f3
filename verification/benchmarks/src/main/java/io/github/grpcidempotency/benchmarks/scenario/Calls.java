package io.github.grpcidempotency.benchmarks.scenario;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.ServerCpu;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Every variant against the bare handler, in interleaved rounds: bare, A, B, …, bare, A, B, …. A
 * ratio compares measurements of the same round, so that a slow minute of the machine affects both.
 */
public final class Calls {
  private static final int WARM_UP_ROUNDS = 2;
  private static final OperatingSystemMXBean JVM =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
  private static final ThreadMXBean THREADS =
      ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

  private Calls() {}

  /** Measures with a database on the same machine. */
  public static void onOneMachine(DurableDatabase database, Pace pace, Report.Section report) {
    run(database, pace, Duration.ZERO, report);
  }

  /** Measures with a database that is a network away. */
  public static void acrossNetwork(DurableDatabase database, Pace pace, Report.Section report) {
    run(database, pace, pace.network(), report);
  }

  private static void run(
      DurableDatabase database, Pace pace, Duration longer, Report.Section report) {
    report.note(
        "network",
        "a round trip to the database takes %,d µs longer than on this machine"
            .formatted(longer.toNanos() / 1_000));
    try (BenchmarkServer server =
            BenchmarkServer.start(database, BenchmarkServer.CONNECTIONS, longer);
        Client client = new Client(server.port())) {
      List<Subject> subjects = Subject.of(client, pace.variants());
      for (int callers : pace.callers()) {
        report.progress("%d at once, warming up", callers);
        for (Subject subject : subjects) {
          ClosedLoop.run(subject.operation(), callers, pace.round().multipliedBy(WARM_UP_ROUNDS));
        }
        // Otherwise, it may plan each of the first thousand executions again, because that was
        // cheaper while the tables were
        // empty.
        database.execute("ANALYZE");
        for (int round = 1; round <= pace.rounds(); round++) {
          report.progress("%d at once, round %d of %d", callers, round, pace.rounds());
          measure(database, subjects, callers, pace.round(), report);
        }
      }
    }
  }

  /** The measurement of a subject in one round. */
  private record Measured(Subject subject, Load load) {
    double times(Measured other) {
      return load.perSecond() / other.load.perSecond();
    }
  }

  private static void measure(
      DurableDatabase database,
      List<Subject> subjects,
      int callers,
      Duration time,
      Report.Section report) {
    ServerCpu databaseCpu = new ServerCpu(database.superuser());
    List<Measured> all = new ArrayList<>();
    for (Subject subject : subjects) {
      Duration databaseBefore = databaseCpu.used();
      long jvmBefore = JVM.getProcessCpuTime();
      long allocatedBefore = allocated();
      Measured own = new Measured(subject, ClosedLoop.run(subject.operation(), callers, time));
      double jvmMicros = (JVM.getProcessCpuTime() - jvmBefore) / 1e3;
      double allocatedKib = (allocated() - allocatedBefore) / 1024.0;
      double databaseMicros = databaseCpu.used().minus(databaseBefore).toNanos() / 1e3;
      all.add(own);
      String label = subject.label();
      Load bare = all.get(0).load();
      report.add(label, callers, "throughput ratio", own.times(all.get(0)));
      report.add(label, callers, "p50 ratio", own.load().p50() / bare.p50());
      report.add(label, callers, "p99 ratio", own.load().p99() / bare.p99());
      report.add(label, callers, "calls/s", own.load().perSecond());
      report.add(label, callers, "p50 (ms)", own.load().p50());
      report.add(label, callers, "p99 (ms)", own.load().p99());
      double operations = own.load().operations();
      report.add(label, callers, "database CPU (µs)", databaseMicros / operations);
      report.add(label, callers, "JVM CPU (µs)", jvmMicros / operations);
      report.add(label, callers, "allocated (KiB)", allocatedKib / operations);
    }
    for (Measured own : of(Subject.Kind.OURS, all)) {
      for (Measured peer : of(Subject.Kind.PEER, all)) {
        String metric = "times " + peer.subject().label();
        report.part("beside peers").add(own.subject().label(), callers, metric, own.times(peer));
      }
    }
  }

  /** The bytes that all living threads have allocated so far: clients and server. */
  private static long allocated() {
    return Arrays.stream(THREADS.getThreadAllocatedBytes(THREADS.getAllThreadIds()))
        .filter(bytes -> bytes > 0)
        .sum();
  }

  private static List<Measured> of(Subject.Kind kind, List<Measured> all) {
    return all.stream().filter(each -> each.subject().kind() == kind).toList();
  }
}
