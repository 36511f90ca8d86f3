package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import io.github.grpcidempotency.benchmarks.service.Variant;
import java.util.Collection;
import java.util.Collections;

/** Many clients that send the same calls. */
public final class Duplicates {

  private static final int CLIENTS = 64;
  private static final int KEYS = 100;
  private static final int STORM_MILLIS = 20;

  private static final int UNRELATED = 16;
  private static final int HANDLER_MILLIS = 300;

  private Duplicates() {}

  /** 64 clients that all call the same 100 keys, one key after the other; a handler takes 20 ms. */
  public static void storm(DurableDatabase database, Pace pace, Report.Section report) {
    try (BenchmarkServer server = BenchmarkServer.start(database);
        Client client = new Client(server.port())) {
      for (Variant variant : Variant.PROTECTED) {
        report.progress("%s", variant.label());
        rage(server, client, variant, report);
      }
    }
  }

  private static void rage(
      BenchmarkServer server, Client client, Variant variant, Report.Section report) {
    String label = variant.label();
    try (var crowd = new DuplicateCrowd(client, variant, CLIENTS, STORM_MILLIS)) {
      long began = System.nanoTime();
      for (int key = 0; key < KEYS; key++) {
        crowd.send().join();
      }
      double seconds = (System.nanoTime() - began) / 1e9;
      Collection<Integer> runs = server.runs().take();
      report.add(label, CLIENTS, "answered calls", crowd.answered());
      report.add(label, CLIENTS, "keys run", runs.size());
      report.add(label, CLIENTS, "most handler runs of a key", Collections.max(runs));
      report.add(label, CLIENTS, "most different answers of a key", crowd.mostAnswers());
      report.add(label, CLIENTS, "seconds", seconds);
    }
  }

  /**
   * 64 clients with retries that all send one slow call (300 ms), and when it is answered the next
   * one, while 16 other clients send other calls. Measures the throughput of these.
   */
  public static void starvation(DurableDatabase database, Pace pace, Report.Section report) {
    try (BenchmarkServer server = BenchmarkServer.start(database);
        Client client = new Client(server.port());
        Client duplicates = new Client(server.port())) {
      Operation unrelated = Operations.create(client, Variant.BARE.method());
      ClosedLoop.run(unrelated, UNRELATED, pace.round());
      for (Variant variant : Variant.PROTECTED) {
        for (int round = 1; round <= pace.rounds(); round++) {
          report.progress("%s, round %d of %d", variant.label(), round, pace.rounds());
          Load undisturbed = ClosedLoop.run(unrelated, UNRELATED, pace.round());
          try (var crowd = new DuplicateCrowd(duplicates, variant, CLIENTS, HANDLER_MILLIS)) {
            crowd.start();
            Load disturbed = ClosedLoop.run(unrelated, UNRELATED, pace.round());
            String label = variant.label();
            report.add(
                label,
                CLIENTS,
                "unrelated throughput ratio",
                disturbed.perSecond() / undisturbed.perSecond());
            report.add(
                label,
                CLIENTS,
                "unrelated p99 ratio",
                disturbed.millis().p99() / undisturbed.millis().p99());
            report.add(label, CLIENTS, "duplicates answered", crowd.answered());
          }
        }
      }
    }
  }
}
