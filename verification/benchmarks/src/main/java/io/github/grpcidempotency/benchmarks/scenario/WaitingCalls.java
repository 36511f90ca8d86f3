package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import io.github.grpcidempotency.benchmarks.service.ParkedCalls;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * Thousands of duplicates that wait for ten running calls on one server. Client and server share
 * this process, and a waiting call needs memory in both. So the memory is compared with the same
 * number of calls that wait in a handler of the service.
 */
public final class WaitingCalls {
  private static final int RUNNING = 10;
  private static final int UNRELATED = 16;
  private static final int COLLECTIONS = 3;

  private WaitingCalls() {}

  /** Measures, and adds the results to the report. */
  public static void run(DurableDatabase database, Pace pace, Report.Section report) {
    try (BenchmarkServer server = BenchmarkServer.start(database);
        Client client = new Client(server.port());
        Client waiters = new Client(server.port())) {
      Operation unrelated = Operations.create(client, Variant.BARE.method());
      ClosedLoop.run(unrelated, UNRELATED, pace.round());
      for (int round = 1; round <= pace.rounds(); round++) {
        report.progress("round %d of %d", round, pace.rounds());
        int calls = pace.waitingCalls();
        double parked = park(server, waiters, calls);
        report.add("in a handler of one's own", calls, "memory (MB)", parked);
        Load undisturbed = ClosedLoop.run(unrelated, UNRELATED, pace.round());
        attach(server, waiters, unrelated, undisturbed, pace, report);
      }
    }
  }

  private static double park(BenchmarkServer server, Client waiters, int calls) {
    double before = usedMegabytes();
    List<CompletableFuture<?>> replies = new ArrayList<>();
    try (PersistentCaller caller = new PersistentCaller(waiters, ParkedCalls.METHOD)) {
      for (int i = 0; i < calls; i++) {
        replies.add(caller.call(Operations.newKey(), CreateProjectRequest.getDefaultInstance()));
      }
      await(() -> server.parked().waiting() == calls);
      double used = usedMegabytes() - before;
      server.parked().release();
      CompletableFuture.allOf(replies.toArray(CompletableFuture<?>[]::new)).join();
      return used;
    }
  }

  private static void attach(
      BenchmarkServer server,
      Client waiters,
      Operation unrelated,
      Load undisturbed,
      Pace pace,
      Report.Section report) {
    double before = usedMegabytes();
    int calls = pace.waitingCalls();
    List<CompletableFuture<?>> replies = new ArrayList<>();
    CreateProjectRequest.Builder request =
        CreateProjectRequest.newBuilder().setHandlerMillis((int) pace.round().toMillis() + 8_000);
    List<String> keys = Stream.generate(Operations::newKey).limit(RUNNING).toList();
    PersistentCaller caller = new PersistentCaller(waiters, Variant.RESERVED_ATTACHING.method());
    keys.forEach(key -> replies.add(caller.call(key, request.setName(key).build())));
    await(() -> server.runs().begun() == RUNNING);
    for (int i = 0; i < calls; i++) {
      String key = keys.get(i % RUNNING);
      replies.add(caller.call(key, request.setName(key).build()));
    }
    settle();
    double used = usedMegabytes() - before;
    Load disturbed = ClosedLoop.run(unrelated, UNRELATED, pace.round());
    boolean allWaited = replies.stream().noneMatch(CompletableFuture::isDone);
    CompletableFuture.allOf(replies.toArray(CompletableFuture<?>[]::new)).join();
    caller.close();
    if (!allWaited || server.runs().take().stream().anyMatch(runs -> runs > 1)) {
      throw new IllegalStateException("the duplicates did not wait throughout");
    }
    report.add("attached", calls, "memory (MB)", used);
    report.add(
        "attached",
        calls,
        "unrelated throughput ratio",
        disturbed.perSecond() / undisturbed.perSecond());
  }

  /** Waits a little, because nothing reports when the last request has arrived at the server. */
  private static void settle() {
    try {
      TimeUnit.SECONDS.sleep(2);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      Thread.onSpinWait();
    }
  }

  private static double usedMegabytes() {
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 1e6;
  }
}
