package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.load.Client;
import io.github.grpcidempotency.benchmarks.load.Operations;
import io.github.grpcidempotency.benchmarks.load.PersistentCaller;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/** Clients that all send the same slow call, and when all have their answer the next. */
final class DuplicateCrowd implements AutoCloseable {
  private static final int HANDLER_MILLIS = 300;

  private final PersistentCaller caller;
  private final int size;
  private final AtomicLong answered = new AtomicLong();
  private final CompletableFuture<?> ended;
  private volatile boolean stopped;

  private DuplicateCrowd(PersistentCaller caller, int size) {
    this.caller = caller;
    this.size = size;
    this.ended = sendNext();
  }

  static DuplicateCrowd start(Client client, Variant variant, int size) {
    return new DuplicateCrowd(new PersistentCaller(client, variant.method()), size);
  }

  long answered() {
    return answered.get();
  }

  @Override
  public void close() {
    stopped = true;
    ended.join();
    caller.close();
  }

  private CompletableFuture<?> sendNext() {
    String key = Operations.newKey();
    CreateProjectRequest request =
        CreateProjectRequest.newBuilder().setName(key).setHandlerMillis(HANDLER_MILLIS).build();
    CompletableFuture<?>[] all =
        IntStream.range(0, size)
            .mapToObj(
                i -> caller.call(key, request).thenAccept(project -> answered.incrementAndGet()))
            .toArray(CompletableFuture<?>[]::new);
    return CompletableFuture.allOf(all)
        .thenCompose(done -> stopped ? CompletableFuture.completedFuture(null) : sendNext());
  }
}
