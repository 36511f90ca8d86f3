package io.github.grpcidempotency.benchmarks.load;

import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import io.github.grpcidempotency.benchmarks.service.ProcedureOf;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.RecordedProcedure;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** Claims of a store, without the calls around them. */
public final class ClaimLoop {
  private static final Caller CALLER = Caller.of(BenchmarkServer.USER);
  private static final Duration RETENTION = Duration.ofDays(1);
  private static final RecordedProcedure PROCEDURE =
      RecordedProcedure.of(ProcedureOf.variant(Variant.RESERVED));
  private static final Fingerprint FINGERPRINT =
      Fingerprinter.wholeRequest().fingerprint(CreateProjectRequest.getDefaultInstance());

  private ClaimLoop() {}

  /** Claims fresh keys for a while; returns how many were won. */
  public static long run(IdempotencyStore store, Supplier<UUID> keys, int claimers, Duration time) {
    long end = System.nanoTime() + time.toNanos();
    LongAdder won = new LongAdder();
    ExecutorService threads = Executors.newFixedThreadPool(claimers);
    try {
      CompletableFuture<?>[] loops =
          IntStream.range(0, claimers)
              .mapToObj(
                  i ->
                      CompletableFuture.runAsync(
                          () -> {
                            while (System.nanoTime() < end) {
                              claim(store, keys.get());
                              won.increment();
                            }
                          },
                          threads))
              .toArray(CompletableFuture<?>[]::new);
      CompletableFuture.allOf(loops).join();
    } finally {
      threads.shutdownNow();
    }
    return won.sum();
  }

  private static void claim(IdempotencyStore store, UUID key) {
    ClaimRequest request =
        new ClaimRequest(
            new IdempotencyKey(CALLER, key.toString()), PROCEDURE, FINGERPRINT, RETENTION);
    if (!(store.claim(request) instanceof ClaimResult.Won)) {
      throw new IllegalStateException("a fresh key was not won");
    }
  }
}
