package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.Usage;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import java.time.Duration;

/**
 * The cost of one call, counted rather than timed: calls one after the other, in several rounds
 * because the server's own housekeeping writes to the log as well. Round trips are counted at the
 * socket; the server's statistics count everything else.
 */
public final class CostOfCall {
  /** The store needs two at its start, to check that a lock keeps a duplicate out. */
  static final int CONNECTIONS = 2;

  private static final int CALLS = 300;

  private CostOfCall() {}

  /** Measures, and adds the results to the report. */
  public static void run(DurableDatabase database, Pace pace, Report.Section report) {
    try (BenchmarkServer server = BenchmarkServer.start(database, CONNECTIONS, Duration.ZERO);
        Client client = new Client(server.port())) {
      for (Subject subject : Subject.of(client, pace.variants())) {
        String label = subject.label();
        report.progress(label);
        Load unused = ClosedLoop.run(subject.operation(), 1, CALLS);
        for (int round = 1; round <= pace.rounds(); round++) {
          Usage used =
              Usage.of(
                  server.pools(),
                  database.superuser(),
                  () -> ClosedLoop.run(subject.operation(), 1, CALLS));
          report.add(label, 1, "round trips", perCall(used.roundTrips()));
          report.add(label, 1, "statements", perCall(used.statements()));
          report.add(label, 1, "transactions", perCall(used.transactions()));
          report.add(label, 1, "flushes of the log", perCall(used.walSyncs()));
          report.add(label, 1, "WAL (B)", perCall(used.walBytes()));
        }
      }
    }
  }

  private static double perCall(long total) {
    return Math.rint(total * 100.0 / CALLS) / 100;
  }
}
