package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.Usage;
import io.github.grpcidempotency.benchmarks.load.Client;
import io.github.grpcidempotency.benchmarks.load.Operation;
import io.github.grpcidempotency.benchmarks.load.Reply;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.report.Rounds;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import java.util.concurrent.CompletableFuture;

/**
 * What one call costs, counted rather than timed: calls one after the other, in rounds because the
 * server's own housekeeping writes to the log as well. Round trips are seen at its socket, the rest
 * is told by the server's statistics.
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
  public void run(DurableDatabase database, Pace pace, Report report) {
    try (BenchmarkServer server = BenchmarkServer.start(database, CONNECTIONS);
        Client client = new Client(server.port())) {
      double bareRoundTrips = 0;
      for (Subject subject : Subject.of(client, pace.selection())) {
        report.progress("%s: %s", name(), subject.label());
        callOneByOne(subject.operation(), CALLS);
        Rounds roundTrips = new Rounds();
        Rounds statements = new Rounds();
        Rounds transactions = new Rounds();
        Rounds flushes = new Rounds();
        Rounds wal = new Rounds();
        for (int round = 1; round <= pace.rounds(); round++) {
          Usage used =
              Usage.of(
                  server.pool(),
                  CONNECTIONS,
                  database.superuser(),
                  () -> callOneByOne(subject.operation(), CALLS));
          roundTrips.add(perCall(used.roundTrips()));
          statements.add(perCall(used.statements()));
          transactions.add(perCall(used.transactions()));
          flushes.add(perCall(used.walSyncs()));
          wal.add(perCall(used.walBytes()));
        }
        String label = subject.label();
        bareRoundTrips = bareRoundTrips == 0 ? roundTrips.median() : bareRoundTrips;
        report.add(name(), label, 1, "round trips", roundTrips);
        report.add(name(), label, 1, "extra round trips", roundTrips.median() - bareRoundTrips);
        report.add(name(), label, 1, "statements", statements);
        report.add(name(), label, 1, "transactions", transactions);
        report.add(name(), label, 1, "flushes of the log", flushes);
        report.add(name(), label, 1, "WAL (B)", wal);
      }
    }
  }

  private static double perCall(long total) {
    return Math.rint(total * 100.0 / CALLS) / 100;
  }

  static void callOneByOne(Operation operation, int calls) {
    for (int i = 0; i < calls; i++) {
      CompletableFuture<Reply> reply = new CompletableFuture<>();
      operation.begin(reply::complete);
      if (!reply.join().isOk()) {
        throw new IllegalStateException("a call failed: " + reply.join().status());
      }
    }
  }
}
