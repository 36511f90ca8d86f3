package io.github.grpcidempotency.benchmarks.load;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import io.github.grpcidempotency.benchmarks.service.ProcedureOf;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.RecordedProcedure;
import io.github.grpcidempotency.store.TransactionalStore;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

/**
 * What a call asks of a store, without gRPC and handlers: a claim and the recording of its answer,
 * or a claim that meets a record.
 */
public final class StoreCalls implements AutoCloseable {
  /** The procedure that transactional records are of. */
  public static final RecordedProcedure TRANSACTIONAL =
      RecordedProcedure.of(ProcedureOf.variant(Variant.TRANSACTIONAL));

  /** Of the request that all records answer. */
  public static final Fingerprint FINGERPRINT =
      Fingerprinter.wholeRequest().fingerprint(CreateProjectRequest.getDefaultInstance());

  private static final Duration RETENTION = Duration.ofDays(1);
  private static final Caller CALLER = Caller.of(BenchmarkServer.USER);
  private static final Reply DONE = new Reply(Status.OK, new Metadata(), Optional.empty());

  private final TransactionalStore store;
  private final ExecutorService threads;

  /** Asks a store with so many threads. */
  public StoreCalls(TransactionalStore store, int threads) {
    this.store = store;
    this.threads = Executors.newFixedThreadPool(threads);
  }

  /** Returns keys of the benchmarks' one user. */
  public static Supplier<IdempotencyKey> keys(Supplier<UUID> uuids) {
    return () -> new IdempotencyKey(CALLER, uuids.get().toString());
  }

  /** Returns reservations that nobody completes. */
  public Operation claims(Supplier<IdempotencyKey> keys) {
    return blocking(() -> win(Variant.RESERVED, keys.get(), RETENTION));
  }

  /**
   * Returns creates of a variant, {@code TRANSACTIONAL} or a reserved one; each refers to a project
   * that is there. Answers are random bytes, which no compression makes smaller.
   */
  public Operation creates(
      Variant variant,
      Supplier<IdempotencyKey> keys,
      Supplier<UUID> projects,
      int answerBytes,
      Duration retention) {
    return blocking(
        () -> {
          Claim.Settled settled =
              win(variant, keys.get(), retention)
                  .complete(
                      new RecordedOutcome.Response(
                          answer(answerBytes), Optional.of(projects.get())));
          if (settled != Claim.Settled.DONE) {
            throw new IllegalStateException("an answer was not recorded: " + settled);
          }
        });
  }

  private Claim win(Variant variant, IdempotencyKey key, Duration retention) {
    RecordedProcedure procedure = RecordedProcedure.of(ProcedureOf.variant(variant));
    ClaimRequest request = new ClaimRequest(key, procedure, FINGERPRINT, retention);
    ClaimResult result =
        variant == Variant.TRANSACTIONAL ? store.claimInTransaction(request) : store.claim(request);
    if (!(result instanceof ClaimResult.Won won)) {
      throw new IllegalStateException("a fresh key was not won");
    }
    return won.claim();
  }

  /** Returns replays of transactional records that are there. */
  public Operation replays(Supplier<IdempotencyKey> keys) {
    return blocking(
        () -> {
          ClaimRequest request =
              new ClaimRequest(keys.get(), TRANSACTIONAL, FINGERPRINT, RETENTION);
          if (!(store.claimInTransaction(request) instanceof ClaimResult.Recorded)) {
            throw new IllegalStateException("there is no record of " + request.key());
          }
        });
  }

  private Operation blocking(Runnable work) {
    return done -> threads.execute(() -> done.accept(replyTo(work)));
  }

  private static Reply replyTo(Runnable work) {
    try {
      work.run();
      return DONE;
    } catch (RuntimeException failure) {
      return new Reply(
          Status.INTERNAL.withDescription(failure.toString()).withCause(failure),
          new Metadata(),
          Optional.empty());
    }
  }

  private static ByteString answer(int size) {
    byte[] bytes = new byte[size];
    ThreadLocalRandom.current().nextBytes(bytes);
    return UnsafeByteOperations.unsafeWrap(bytes);
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
