package io.github.grpcidempotency.benchmarks.load;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.common.util.concurrent.RateLimiter;
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
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.PreparedBatch;

/**
 * Makes records as calls do, by the store's own statements, without gRPC and handlers. Each refers
 * to a project of its own. Answers are random bytes, which no compression makes smaller.
 */
public final class RecordWriter implements AutoCloseable {
  private static final Caller CALLER = Caller.of(BenchmarkServer.USER);
  private static final Fingerprint FINGERPRINT =
      Fingerprinter.wholeRequest().fingerprint(CreateProjectRequest.getDefaultInstance());

  /** How many resources are made at a time. */
  public static final int PROJECTS_AT_ONCE = 500;

  private static final double UNLIMITED = 1e9;

  private final Settings settings;
  private final TransactionalStore store;
  private final Jdbi superuser;
  private final RecordedProcedure procedure;
  private final RateLimiter limiter;
  private final LongAdder written = new LongAdder();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final List<Thread> threads = new ArrayList<>();

  /**
   * What is written, and how fast.
   *
   * @param variant {@code TRANSACTIONAL}, or a reserved one
   * @param keys of the records
   * @param perSecond how many; as many as possible if it is zero
   */
  public record Settings(
      Variant variant,
      Supplier<UUID> keys,
      int answerBytes,
      Duration retention,
      int writers,
      double perSecond) {}

  private RecordWriter(Settings settings, TransactionalStore store, Jdbi superuser) {
    this.settings = settings;
    this.store = store;
    this.superuser = superuser;
    this.procedure = RecordedProcedure.of(ProcedureOf.variant(settings.variant()));
    this.limiter = RateLimiter.create(settings.perSecond() == 0 ? UNLIMITED : settings.perSecond());
  }

  /** Writes so many records, and returns when they are written. */
  public static void write(
      Settings settings, TransactionalStore store, Jdbi superuser, long records) {
    RecordWriter writer = new RecordWriter(settings, store, superuser);
    LongAdder begun = new LongAdder();
    writer.startThreads(
        () -> {
          begun.increment();
          return begun.sum() <= records;
        });
    writer.join();
  }

  /** Starts to write, until it is closed. */
  public static RecordWriter start(Settings settings, TransactionalStore store, Jdbi superuser) {
    RecordWriter writer = new RecordWriter(settings, store, superuser);
    writer.startThreads(() -> !writer.closed.get());
    return writer;
  }

  /** Returns how many records it has written so far. */
  public long written() {
    return written.sum();
  }

  @Override
  public void close() {
    closed.set(true);
    join();
  }

  private void startThreads(Supplier<Boolean> goesOn) {
    for (int i = 0; i < settings.writers(); i++) {
      Thread thread = new Thread(() -> writeWhile(goesOn), "writer-" + i);
      thread.start();
      threads.add(thread);
    }
  }

  private void join() {
    try {
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  private void writeWhile(Supplier<Boolean> goesOn) {
    Queue<UUID> projects = new ArrayDeque<>();
    while (goesOn.get()) {
      if (projects.isEmpty()) {
        projects.addAll(newProjects(superuser));
      }
      double unused = limiter.acquire();
      write(projects.remove());
      written.increment();
    }
  }

  private void write(UUID project) {
    ClaimRequest request =
        new ClaimRequest(
            new IdempotencyKey(CALLER, settings.keys().get().toString()),
            procedure,
            FINGERPRINT,
            settings.retention());
    ClaimResult result =
        settings.variant() == Variant.TRANSACTIONAL
            ? store.claimInTransaction(request)
            : store.claim(request);
    if (!(result instanceof ClaimResult.Won won)) {
      throw new IllegalStateException("a fresh key was not won");
    }
    Claim.Settled settled =
        won.claim().complete(new RecordedOutcome.Response(answer(), Optional.of(project)));
    if (settled != Claim.Settled.DONE) {
      throw new IllegalStateException("an answer was not recorded: " + settled);
    }
  }

  private ByteString answer() {
    byte[] bytes = new byte[settings.answerBytes()];
    ThreadLocalRandom.current().nextBytes(bytes);
    return UnsafeByteOperations.unsafeWrap(bytes);
  }

  /** Makes projects many at a time, because what they cost is not the question. */
  public static List<UUID> newProjects(Jdbi superuser) {
    List<UUID> ids = new ArrayList<>();
    superuser.useHandle(
        handle -> {
          PreparedBatch batch =
              handle.prepareBatch(
                  "INSERT INTO app.project (id, user_id, name) VALUES (:id, :user, 'a project')");
          for (int i = 0; i < PROJECTS_AT_ONCE; i++) {
            UUID id = UuidCreator.getTimeOrderedEpoch();
            ids.add(id);
            batch.bind("id", id).bind("user", BenchmarkServer.USER).add();
          }
          int[] unused = batch.execute();
        });
    return ids;
  }
}
