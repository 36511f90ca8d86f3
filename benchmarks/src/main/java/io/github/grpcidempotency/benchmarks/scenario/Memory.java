package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.load.Client;
import io.github.grpcidempotency.benchmarks.load.ClosedLoop;
import io.github.grpcidempotency.benchmarks.load.Load;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.report.Rounds;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;

/**
 * The memory of 10,000 calls: what the threads that run them in the server allocate, and by how
 * much the heap has grown when they are over and the garbage is collected.
 */
public final class Memory implements Scenario {
  private static final int CALLERS = 16;
  private static final double CALLS = 10_000;

  @Override
  public String name() {
    return "memory";
  }

  @Override
  public void run(DurableDatabase database, Pace pace, Report report) {
    try (BenchmarkServer server = BenchmarkServer.start(database, pace.connections());
        Client client = new Client(server.port())) {
      double bare = 0;
      for (Subject subject : Subject.of(client, pace.selection())) {
        ClosedLoop.run(subject.operation(), CALLERS, pace.round().multipliedBy(2));
        Rounds allocated = new Rounds();
        Rounds kept = new Rounds();
        for (int round = 1; round <= pace.rounds(); round++) {
          report.progress("%s: %s, round %d of %d", name(), subject.label(), round, pace.rounds());
          long heapBefore = Heap.usedBytes();
          long allocatedBefore = server.allocatedBytes();
          Load load = ClosedLoop.run(subject.operation(), CALLERS, pace.round());
          double calls = load.operations() / CALLS;
          allocated.add((server.allocatedBytes() - allocatedBefore) / calls / 1e6);
          kept.add((Heap.usedBytes() - heapBefore) / calls / 1e6);
        }
        bare = bare == 0 ? allocated.median() : bare;
        String label = subject.label();
        report.add(name(), label, CALLERS, "allocated by 10,000 calls (MB)", allocated);
        report.add(
            name(), label, CALLERS, "more than the bare handler (MB)", allocated.median() - bare);
        report.add(name(), label, CALLERS, "heap kept after 10,000 calls (MB)", kept);
      }
    }
  }
}
