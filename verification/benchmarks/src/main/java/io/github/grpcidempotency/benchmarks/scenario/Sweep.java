package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.KeyLoader;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.postgres.ExpirySweeper;
import java.util.List;

/** A sweep of many expired records while 16 clients create. */
public final class Sweep {
  private static final int CLIENTS = 16;

  private Sweep() {}

  /** Measures, and adds the results to the report. */
  public static void run(DurableDatabase database, Pace pace, Report.Section report) {
    try (BenchmarkServer server = BenchmarkServer.start(database);
        Client client = new Client(server.port());
        ExpirySweeper sweeper = ExpirySweeper.builder(server.pool()).build()) {
      for (Variant variant : List.of(Variant.TRANSACTIONAL, Variant.BARE)) {
        String label = variant == Variant.BARE ? "bare calls" : "keyed calls";
        Operation creates = Operations.create(client, variant.method());
        ClosedLoop.run(creates, CLIENTS, pace.round());
        for (int round = 1; round <= pace.rounds(); round++) {
          report.progress("%s, round %d of %d", label, round, pace.rounds());
          new KeyLoader(pace.sweptKeys()).load(database.superuser());
          measure(label, creates, sweeper, pace, report);
        }
      }
    }
  }

  private static void measure(
      String label, Operation creates, ExpirySweeper sweeper, Pace pace, Report.Section report) {
    try (ClosedLoop loop = ClosedLoop.start(creates, CLIENTS)) {
      Load undisturbed = loop.observe(pace.round());
      loop.restart();
      long began = System.nanoTime();
      long swept = sweeper.sweep();
      double seconds = (System.nanoTime() - began) / 1e9;
      Load disturbed = loop.seenSinceRestart();
      if (swept != pace.sweptKeys()) {
        throw new IllegalStateException("swept " + swept + " of " + pace.sweptKeys());
      }
      report.add(
          label, CLIENTS, "throughput ratio", disturbed.perSecond() / undisturbed.perSecond());
      report.add(
          label, CLIENTS, "p99 ratio", disturbed.millis().p99() / undisturbed.millis().p99());
      report.add(label, CLIENTS, "seconds", seconds);
      report.add(label, CLIENTS, "records swept/s", swept / seconds);
    }
  }
}
