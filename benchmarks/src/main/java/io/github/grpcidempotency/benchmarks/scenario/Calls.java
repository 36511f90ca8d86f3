package io.github.grpcidempotency.benchmarks.scenario;

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
import java.util.function.Function;

/**
 * Every variant against the bare handler, in interleaved rounds: bare, A, B, …, bare, A, B, …. A
 * ratio is taken within its round, so that a slow minute of the machine slows both sides.
 */
public final class Calls implements Scenario {
  private static final int WARM_UP_ROUNDS = 2;
  private static final OperatingSystemMXBean JVM =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private final String name;
  private final Function<Pace, Duration> delay;

  private Calls(String name, Function<Pace, Duration> delay) {
    this.name = name;
    this.delay = delay;
  }

  /** Makes the comparison with a database on the same machine. */
  public static Calls onOneMachine() {
    return new Calls("calls", pace -> Duration.ZERO);
  }

  /** Makes the comparison with a database that is a network away. */
  public static Calls acrossNetwork() {
    return new Calls("calls across a network", Pace::network);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void run(DurableDatabase database, Pace pace, Report report) {
    Duration longer = delay.apply(pace);
    report.note(
        name,
        "a round trip to the database takes %,d µs longer than on this machine"
            .formatted(longer.toNanos() / 1_000));
    try (BenchmarkServer server = BenchmarkServer.start(database, pace.connections(), longer);
        Client client = new Client(server.port())) {
      List<Subject> subjects = Subject.of(client, pace.selection());
      for (int callers : pace.callers()) {
        report.progress("%s: %d at once, warming up", name, callers);
        for (Subject subject : subjects) {
          ClosedLoop.run(subject.operation(), callers, pace.round().multipliedBy(WARM_UP_ROUNDS));
        }
        database.analyze();
        compare(database, subjects, callers, pace, report);
      }
    }
  }

  private void compare(
      DurableDatabase database, List<Subject> subjects, int callers, Pace pace, Report report) {
    ServerCpu databaseCpu = new ServerCpu(database.superuser());
    Comparison comparison = new Comparison(subjects);
    for (int round = 1; round <= pace.rounds(); round++) {
      report.progress("%s: %d at once, round %d of %d", name, callers, round, pace.rounds());
      for (Subject subject : subjects) {
        Duration databaseBefore = databaseCpu.used();
        long jvmBefore = JVM.getProcessCpuTime();
        Load load = ClosedLoop.run(subject.operation(), callers, pace.round());
        double jvmMicros = (JVM.getProcessCpuTime() - jvmBefore) / 1e3;
        double databaseMicros = databaseCpu.used().minus(databaseBefore).toNanos() / 1e3;
        comparison.add(
            subject, load, databaseMicros / load.operations(), jvmMicros / load.operations());
      }
    }
    comparison.report(name, callers, report);
  }
}
