package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.load.Client;
import io.github.grpcidempotency.benchmarks.load.ClosedLoop;
import io.github.grpcidempotency.benchmarks.load.Load;
import io.github.grpcidempotency.benchmarks.load.Operation;
import io.github.grpcidempotency.benchmarks.load.Operations;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.report.Rounds;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import io.github.grpcidempotency.benchmarks.service.Variant;
import java.util.List;

/**
 * 64 clients with retries that all send one slow call (300 ms), and when it is answered the next
 * one, while 16 others go about their own business. What is left to those?
 */
public final class Starvation implements Scenario {
  private static final int DUPLICATES = 64;
  private static final int UNRELATED = 16;

  @Override
  public String name() {
    return "starvation";
  }

  @Override
  public void run(DurableDatabase database, Pace pace, Report report) {
    try (BenchmarkServer server = BenchmarkServer.start(database, pace.connections());
        Client client = new Client(server.port());
        Client duplicates = new Client(server.port())) {
      Operation unrelated = Operations.create(client, Variant.BARE.method());
      ClosedLoop.run(unrelated, UNRELATED, pace.round());
      for (Variant variant :
          List.of(
              Variant.RESERVED,
              Variant.TRANSACTIONAL,
              Variant.RESERVED_ATTACHING,
              Variant.TRANSACTIONAL_ATTACHING)) {
        measure(variant, unrelated, duplicates, pace, report);
      }
    }
  }

  private void measure(
      Variant variant, Operation unrelated, Client duplicates, Pace pace, Report report) {
    Rounds throughput = new Rounds();
    Rounds p99 = new Rounds();
    Rounds answered = new Rounds();
    for (int round = 1; round <= pace.rounds(); round++) {
      report.progress("%s: %s, round %d of %d", name(), variant.label(), round, pace.rounds());
      Load undisturbed = ClosedLoop.run(unrelated, UNRELATED, pace.round());
      try (DuplicateCrowd crowd = DuplicateCrowd.start(duplicates, variant, DUPLICATES)) {
        Load disturbed = ClosedLoop.run(unrelated, UNRELATED, pace.round());
        throughput.add(disturbed.perSecond() / undisturbed.perSecond());
        p99.add(disturbed.millis().p99() / undisturbed.millis().p99());
        answered.add((double) crowd.answered());
      }
    }
    String label = variant.label();
    report.add(name(), label, DUPLICATES, "unrelated throughput ratio", throughput);
    report.add(name(), label, DUPLICATES, "unrelated p99 ratio", p99);
    report.add(name(), label, DUPLICATES, "duplicates answered", answered);
  }
}
