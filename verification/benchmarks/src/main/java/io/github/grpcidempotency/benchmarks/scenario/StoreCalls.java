package io.github.grpcidempotency.benchmarks.scenario;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import io.github.grpcidempotency.benchmarks.service.ProcedureOf;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.resource.ResourceId;
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

/** The calls to a store, without gRPC and handlers: a claim, and the recording of its answer. */
public final class StoreCalls implements AutoCloseable {
  private static final Caller CALLER = Caller.of(BenchmarkServer.USER);
  private static final Reply DONE = new Reply(Status.OK, new Metadata(), Optional.empty());

  private final DurableDatabase database;
  private final HikariDataSource pool;
  private final TransactionalStore store;
  private final ExecutorService threads;
  private final int callers;

  /**
   * Uses the store of the library's default schema, with this number of threads and connections.
   */
  public StoreCalls(DurableDatabase database, int threads) {
    this.database = database;
    this.pool = database.newPool(threads);
    this.store = PostgresIdempotencyStore.builder(pool).build();
    this.threads = Executors.newFixedThreadPool(threads);
    this.callers = threads;
  }

  /** Returns its connections. */
  public HikariDataSource pool() {
    return pool;
  }

  /**
   * Prepares to write a number of records, each with a project of its own that is created now. The
   * returned task blocks.
   */
  public Runnable writes(
      Variant variant, Supplier<UUID> keys, int answerBytes, Duration retention, int records) {
    Projects projects = new Projects(database.superuser(), records);
    Operation creates = creates(variant, keys(keys), projects, answerBytes, retention);
    return () -> {
      Load unused = ClosedLoop.run(creates, callers, records);
    };
  }

  /** Returns keys of the benchmarks' one user. */
  public static Supplier<IdempotencyKey> keys(Supplier<UUID> uuids) {
    return () -> new IdempotencyKey(CALLER, uuids.get().toString());
  }

  /**
   * Returns creates of a variant, {@code TRANSACTIONAL} or a reserved one; each refers to an
   * existing project. Answers are random bytes, which cannot be compressed.
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
                          answer(answerBytes), Optional.of(ResourceId.of(projects.get()))));
          if (settled != Claim.Settled.DONE) {
            throw new IllegalStateException("an answer was not recorded: " + settled);
          }
        });
  }

  private Claim win(Variant variant, IdempotencyKey key, Duration retention) {
    RecordedProcedure procedure = RecordedProcedure.of(ProcedureOf.variant(variant));
    ClaimRequest request =
        new ClaimRequest(
            key, procedure, ProcedureOf.FINGERPRINT, retention, Optional.empty(), false);
    ClaimResult result =
        variant == Variant.TRANSACTIONAL ? store.claimInTransaction(request) : store.claim(request);
    if (!(result instanceof ClaimResult.Won won)) {
      throw new IllegalStateException("a fresh key was not won");
    }
    return won.claim();
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
    pool.close();
  }
}
