package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.Usage;
import io.github.grpcidempotency.benchmarks.load.Client;
import io.github.grpcidempotency.benchmarks.load.ClosedLoop;
import io.github.grpcidempotency.benchmarks.load.Load;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import java.util.Set;

/**
 * What one call costs, counted rather than timed: calls one after the other, in rounds because the
 * server's own housekeeping writes to the log as well. Round trips are seen at its socket, the rest
 * is told by the server's statistics, and by the JVM for the threads that run the calls.
 */
public final class CostOfCall implements Scenario {
  /** The store wants two at its start, to prove that a lock keeps a duplicate out. */
  static final int CONNECTIONS = 2;

  private static final int CALLS = 300;

  @Override
  public String name() {
    return "cost of a call";
  }

  @Override
  public Set<String> options() {
    return Set.of("--rounds", "--variants");
  }

  @Override
  public void run(DurableDatabase database, Pace pace, Report.Section report) {
    try (BenchmarkServer server = BenchmarkServer.start(database, CONNECTIONS);
        Client client = new Client(server.port())) {
      for (Subject subject : Subject.of(client, pace.selection())) {
        String label = subject.label();
        report.progress(label);
        Load unused = ClosedLoop.run(subject.operation(), 1, CALLS);
        for (int round = 1; round <= pace.rounds(); round++) {
          long allocated = server.allocatedBytes();
          Usage used =
              Usage.of(
                  server.pool(),
                  CONNECTIONS,
                  database.superuser(),
                  () -> ClosedLoop.run(subject.operation(), 1, CALLS));
          report.add(label, 1, "round trips", perCall(used.roundTrips()));
          report.add(label, 1, "statements", perCall(used.statements()));
          report.add(label, 1, "transactions", perCall(used.transactions()));
          report.add(label, 1, "flushes of the log", perCall(used.walSyncs()));
          report.add(label, 1, "WAL (B)", perCall(used.walBytes()));
          report.add(label, 1, "allocated (B)", perCall(server.allocatedBytes() - allocated));
        }
      }
    }
  }

  private static double perCall(long total) {
    return Math.rint(total * 100.0 / CALLS) / 100;
  }
}
