package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.KeyLoader;
import io.github.grpcidempotency.benchmarks.load.Client;
import io.github.grpcidempotency.benchmarks.load.ClosedLoop;
import io.github.grpcidempotency.benchmarks.load.Load;
import io.github.grpcidempotency.benchmarks.load.Operation;
import io.github.grpcidempotency.benchmarks.load.Operations;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.report.Rounds;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.postgres.ExpirySweeper;
import io.github.grpcidempotency.postgres.IdempotencySchema;

/** A sweep of many expired records while 16 clients create. */
public final class Sweep implements Scenario {
  private static final int CLIENTS = 16;

  @Override
  public String name() {
    return "sweep";
  }

  @Override
  public void run(DurableDatabase database, Pace pace, Report report) {
    try (BenchmarkServer server = BenchmarkServer.start(database, pace.connections());
        Client client = new Client(server.port());
        ExpirySweeper sweeper = ExpirySweeper.builder(server.pool()).build()) {
      Operation keyed = Operations.create(client, Variant.TRANSACTIONAL.method());
      Operation unrelated = Operations.create(client, Variant.BARE.method());
      ClosedLoop.run(keyed, CLIENTS, pace.round());
      ClosedLoop.run(unrelated, CLIENTS, pace.round());
      measure("keyed calls", keyed, sweeper, database, pace, report);
      measure("bare calls", unrelated, sweeper, database, pace, report);
    }
  }

  private void measure(
      String label,
      Operation operation,
      ExpirySweeper sweeper,
      DurableDatabase database,
      Pace pace,
      Report report) {
    Rounds throughput = new Rounds();
    Rounds p99 = new Rounds();
    Rounds seconds = new Rounds();
    Rounds rate = new Rounds();
    for (int round = 1; round <= pace.rounds(); round++) {
      report.progress("%s: %s, round %d of %d", name(), label, round, pace.rounds());
      KeyLoader.loadExpired(database.superuser(), IdempotencySchema.DEFAULT_NAME, pace.sweptKeys());
      try (ClosedLoop loop = ClosedLoop.start(operation, CLIENTS)) {
        Load undisturbed = loop.observe(pace.round());
        loop.restart();
        long began = System.nanoTime();
        long swept = sweeper.sweep();
        double taken = (System.nanoTime() - began) / 1e9;
        Load disturbed = loop.seenSinceRestart();
        if (swept != pace.sweptKeys()) {
          throw new IllegalStateException("swept " + swept + " of " + pace.sweptKeys());
        }
        throughput.add(disturbed.perSecond() / undisturbed.perSecond());
        p99.add(disturbed.millis().p99() / undisturbed.millis().p99());
        seconds.add(taken);
        rate.add(swept / taken);
      }
    }
    report.add(name(), label, CLIENTS, "throughput ratio", throughput);
    report.add(name(), label, CLIENTS, "p99 ratio", p99);
    report.add(name(), label, CLIENTS, "seconds", seconds);
    report.add(name(), label, CLIENTS, "records swept/s", rate);
  }
}
