package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.Usage;
import io.github.grpcidempotency.benchmarks.load.Client;
import io.github.grpcidempotency.benchmarks.load.Operation;
import io.github.grpcidempotency.benchmarks.load.Reply;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import java.util.concurrent.CompletableFuture;

/**
 * What one call costs, counted rather than timed: calls one after the other, on one connection.
 * Round trips are seen at its socket, the rest is told by the server's statistics.
 */
public final class CostOfCall implements Scenario {
  private static final int CALLS = 500;

  @Override
  public String name() {
    return "cost of a call";
  }

  @Override
  public void run(DurableDatabase database, Pace pace, Report report) {
    try (BenchmarkServer server = BenchmarkServer.start(database, 1);
        Client client = new Client(server.port())) {
      double bareRoundTrips = 0;
      for (Subject subject : Subject.all(client)) {
        report.progress("%s: %s", name(), subject.label());
        callOneByOne(subject.operation());
        Usage used =
            Usage.of(server.pool(), database.superuser(), () -> callOneByOne(subject.operation()));
        double roundTrips = perCall(used.roundTrips());
        bareRoundTrips = bareRoundTrips == 0 ? roundTrips : bareRoundTrips;
        String label = subject.label();
        report.add(name(), label, 1, "round trips", roundTrips);
        report.add(name(), label, 1, "extra round trips", roundTrips - bareRoundTrips);
        report.add(name(), label, 1, "transactions", perCall(used.transactions()));
        report.add(name(), label, 1, "flushes of the log", perCall(used.walSyncs()));
        report.add(name(), label, 1, "WAL (B)", perCall(used.walBytes()));
      }
    }
  }

  private static double perCall(long total) {
    return Math.rint(total * 100.0 / CALLS) / 100;
  }

  private static void callOneByOne(Operation operation) {
    for (int i = 0; i < CALLS; i++) {
      CompletableFuture<Reply> reply = new CompletableFuture<>();
      operation.begin(reply::complete);
      if (!reply.join().isOk()) {
        throw new IllegalStateException("a call failed: " + reply.join().status());
      }
    }
  }
}
