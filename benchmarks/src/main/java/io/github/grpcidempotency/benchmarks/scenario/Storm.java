package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.load.Client;
import io.github.grpcidempotency.benchmarks.load.Operations;
import io.github.grpcidempotency.benchmarks.load.PersistentCaller;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/** 64 clients that all call the same 100 keys, one key after the other; a handler takes 20 ms. */
public final class Storm implements Scenario {
  private static final int CLIENTS = 64;
  private static final int KEYS = 100;
  private static final int HANDLER_MILLIS = 20;

  @Override
  public String name() {
    return "storm";
  }

  @Override
  public Set<String> options() {
    return Set.of("--connections");
  }

  @Override
  public void run(DurableDatabase database, Pace pace, Report.Section report) {
    try (BenchmarkServer server = BenchmarkServer.start(database, pace.connections());
        Client client = new Client(server.port())) {
      for (Variant variant : Variant.PROTECTED) {
        report.progress("%s", variant.label());
        rage(server, client, variant, report);
      }
    }
  }

  private void rage(BenchmarkServer server, Client client, Variant variant, Report.Section report) {
    List<String> keys = IntStream.range(0, KEYS).mapToObj(i -> Operations.newKey()).toList();
    Map<String, Set<String>> answers = new ConcurrentHashMap<>();
    long began = System.nanoTime();
    try (PersistentCaller caller = new PersistentCaller(client, variant.method())) {
      CompletableFuture<?>[] clients =
          IntStream.range(0, CLIENTS)
              .mapToObj(i -> callAll(caller, keys, 0, answers))
              .toArray(CompletableFuture<?>[]::new);
      CompletableFuture.allOf(clients).join();
    }
    double seconds = (System.nanoTime() - began) / 1e9;
    Collection<Integer> runs = server.runs().take();
    int mostAnswers = answers.values().stream().mapToInt(Set::size).max().orElse(0);
    report.add(variant.label(), CLIENTS, "answered calls", CLIENTS * KEYS);
    report.add(variant.label(), CLIENTS, "keys run", runs.size());
    report.add(variant.label(), CLIENTS, "most handler runs of a key", Collections.max(runs));
    report.add(variant.label(), CLIENTS, "most different answers of a key", mostAnswers);
    report.add(variant.label(), CLIENTS, "seconds", seconds);
  }

  private static CompletableFuture<Project> callAll(
      PersistentCaller caller, List<String> keys, int from, Map<String, Set<String>> answers) {
    String key = keys.get(from);
    CreateProjectRequest request =
        CreateProjectRequest.newBuilder().setName(key).setHandlerMillis(HANDLER_MILLIS).build();
    CompletableFuture<Project> answer =
        caller
            .call(key, request)
            .thenApply(
                project -> {
                  answers
                      .computeIfAbsent(key, first -> ConcurrentHashMap.newKeySet())
                      .add(project.getId());
                  return project;
                });
    return from + 1 == keys.size()
        ? answer
        : answer.thenCompose(project -> callAll(caller, keys, from + 1, answers));
  }
}
