package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * Clients with retries that all send the same slow call, and when all have their answer, the next
 * one.
 */
final class DuplicateCrowd implements AutoCloseable {
  private final PersistentCaller caller;
  private final int size;
  private final int handlerMillis;
  private final AtomicInteger answered = new AtomicInteger();
  private final AtomicInteger mostAnswers = new AtomicInteger();
  private volatile boolean stopped;
  private volatile CompletableFuture<?> ended = CompletableFuture.completedFuture(null);

  DuplicateCrowd(Client client, Variant variant, int size, int handlerMillis) {
    this.caller = new PersistentCaller(client, variant.method());
    this.size = size;
    this.handlerMillis = handlerMillis;
  }

  /** Sends the same call by all clients. */
  CompletableFuture<?> send() {
    String key = Operations.newKey();
    CreateProjectRequest request =
        CreateProjectRequest.newBuilder().setName(key).setHandlerMillis(handlerMillis).build();
    Set<String> ids = ConcurrentHashMap.newKeySet();
    CompletableFuture<?>[] all =
        IntStream.range(0, size)
            .mapToObj(
                i ->
                    caller
                        .call(key, request)
                        .thenAccept(
                            project -> {
                              ids.add(project.getId());
                              answered.incrementAndGet();
                            }))
            .toArray(CompletableFuture<?>[]::new);
    return CompletableFuture.allOf(all)
        .thenRun(() -> mostAnswers.accumulateAndGet(ids.size(), Math::max));
  }

  /** Sends one call after the other until this is closed. */
  void start() {
    ended = sendUntilStopped();
  }

  private CompletableFuture<?> sendUntilStopped() {
    return stopped
        ? CompletableFuture.completedFuture(null)
        : send().thenCompose(done -> sendUntilStopped());
  }

  int answered() {
    return answered.get();
  }

  /** Returns the greatest number of different answers to the same call. */
  int mostAnswers() {
    return mostAnswers.get();
  }

  @Override
  public void close() {
    stopped = true;
    ended.join();
    caller.close();
  }
}
