package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import io.github.grpcidempotency.benchmarks.service.Variant;
import java.util.Collection;
import java.util.Collections;

/** 64 clients that all call the same 100 keys, one key after the other; a handler takes 20 ms. */
public final class Storm {
  private static final int CLIENTS = 64;
  private static final int KEYS = 100;
  private static final int HANDLER_MILLIS = 20;

  private Storm() {}

  /** Measures, and adds the results to the report. */
  public static void run(DurableDatabase database, Pace pace, Report.Section report) {
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
    try (var crowd = new DuplicateCrowd(client, variant, CLIENTS, HANDLER_MILLIS)) {
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
}
