package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import io.github.grpcidempotency.benchmarks.service.Variant;

/**
 * 64 clients with retries that all send one slow call (300 ms), and when it is answered the next
 * one, while 16 others go about their own business. What is left to those?
 */
public final class Starvation {
  private static final int DUPLICATES = 64;
  private static final int UNRELATED = 16;
  private static final int HANDLER_MILLIS = 300;

  private Starvation() {}

  /** Measures, and adds the results to the report. */
  public static void run(DurableDatabase database, Pace pace, Report.Section report) {
    try (BenchmarkServer server = BenchmarkServer.start(database);
        Client client = new Client(server.port());
        Client duplicates = new Client(server.port())) {
      Operation unrelated = Operations.create(client, Variant.BARE.method());
      ClosedLoop.run(unrelated, UNRELATED, pace.round());
      for (Variant variant : Variant.PROTECTED) {
        for (int round = 1; round <= pace.rounds(); round++) {
          report.progress("%s, round %d of %d", variant.label(), round, pace.rounds());
          Load undisturbed = ClosedLoop.run(unrelated, UNRELATED, pace.round());
          try (var crowd = new DuplicateCrowd(duplicates, variant, DUPLICATES, HANDLER_MILLIS)) {
            crowd.start();
            Load disturbed = ClosedLoop.run(unrelated, UNRELATED, pace.round());
            String label = variant.label();
            report.add(
                label,
                DUPLICATES,
                "unrelated throughput ratio",
                disturbed.perSecond() / undisturbed.perSecond());
            report.add(
                label,
                DUPLICATES,
                "unrelated p99 ratio",
                disturbed.millis().p99() / undisturbed.millis().p99());
            report.add(label, DUPLICATES, "duplicates answered", crowd.answered());
          }
        }
      }
    }
  }
}
