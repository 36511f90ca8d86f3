package io.github.grpcidempotency.internal.engine;

import io.github.grpcidempotency.background.DaemonThreads;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.event.LiveCounts;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.record.KeyedRequest;
import io.github.grpcidempotency.internal.settling.LateSettler;
import io.github.grpcidempotency.internal.settling.LeaseKeeper;
import io.github.grpcidempotency.internal.settling.OwnedClaim;
import io.github.grpcidempotency.internal.settling.RunningCalls;
import io.github.grpcidempotency.internal.settling.Settler;
import io.github.grpcidempotency.internal.waiting.InFlightWaiter;
import io.github.grpcidempotency.internal.waiting.WaitCapacity;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.spi.BatchCounts;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.ConnectionCounts;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.spi.StoreTransaction;
import io.github.grpcidempotency.spi.TransactionalStore;
import io.github.grpcidempotency.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.LoggerFactory;

/**
 * Claims keys, renews leases, settles claims and lets duplicates wait, for gRPC calls and for other
 * work. One engine serves all calls of an interceptor, or all calls of one shard. Not for use by
 * services. Thread-safe.
 */
public final class Engine implements AutoCloseable {
  private final RateLimitedLog log = RateLimitedLog.of(LoggerFactory.getLogger(Engine.class));
  private final CheckedStore checked;
  private final IdempotencyStore store;
  private final EngineSettings settings;
  private final LeaseKeeper leases;
  private final LateSettler late;
  private final Settler settler;
  private final InFlightWaiter waiter;
  private final RunningCalls running;
  private final LiveCounts counts = new Counts();
  private final AtomicBoolean live = new AtomicBoolean();

  /** The current activity of this engine. */
  private final class Counts implements LiveCounts {
    @Override
    public Optional<String> shard() {
      return checked.shard();
    }

    @Override
    public int leasesHeld() {
      return leases.count();
    }

    @Override
    public int callsWaiting() {
      return waiter.count();
    }

    @Override
    public Duration oldestCall() {
      return running.oldest();
    }

    @Override
    public int lateAnswers() {
      return late.count();
    }

    @Override
    public BatchCounts batches() {
      return store.batches();
    }

    @Override
    public ConnectionCounts connections() {
      return store.connectionCounts();
    }
  }

  Engine(CheckedStore checked, EngineSettings settings, WaitCapacity room) {
    this.checked = checked;
    this.store = checked.store();
    this.settings = settings;
    this.leases = new LeaseKeeper(store, settings.listeners(), checked.shard());
    this.late = new LateSettler(settings.callLimit());
    this.settler = new Settler(late);
    ScheduledExecutorService timer = DaemonThreads.newIdleTimer("idempotency-timer");
    this.waiter = new InFlightWaiter(this::find, leases, store, room, timer);
    this.running = new RunningCalls(store.lease(), settings.callLimit(), timer);
  }

  public void start() {
    live.set(true);
    settings.listeners().each(listener -> listener.started(counts));
  }

  /**
   * Claims a key, and returns the result. If this process itself owns the key, the store is not
   * called, because the owner may have lost its connection to the store. An abandoned reservation
   * of an older server is claimed again with the fingerprint of the older server.
   *
   * @param gone returns whether nobody waits for the answer any more
   * @throws java.util.concurrent.CancellationException if the call was gone before its claim was
   *     sent
   * @throws StoreException if the store failed
   */
  public ClaimResult claim(KeyedRequest request, BooleanSupplier gone) {
    Optional<ClaimResult.InFlight> own = leases.inFlight(request.key());
    if (own.isPresent()) {
      return own.get();
    }
    if (claimsAtCommit(request)) {
      ClaimRequest claiming = request.claimRequest();
      return new ClaimResult.Won(
          ofStore(() -> transactional(checked.ready()).claimAtCommit(claiming)));
    }
    return ofStore(
        () -> {
          ClaimResult met = claim(request.procedure(), request.claimRequest().unless(gone));
          Optional<ClaimRequest> older = request.takeOverOfOlderVersion(met);
          return older.isPresent() ? claim(request.procedure(), older.get()) : met;
        });
  }

  /**
   * Returns whether the record of a call is its claim. A retry is claimed before its handler,
   * because its handler would probably run in vain.
   */
  private static boolean claimsAtCommit(KeyedRequest request) {
    return request.procedure().claimsAtCommit() && !request.retry();
  }

  /** Calls the store, and turns every unexpected exception into a {@link StoreException}. */
  private static <T> T ofStore(Supplier<T> call) {
    try {
      return call.get();
    } catch (StoreException | CancellationException known) {
      throw known;
    } catch (RuntimeException | Error defect) {
      throw unexpected(defect);
    }
  }

  private static StoreException unexpected(Throwable defect) {
    return new StoreException("the store threw an unexpected exception", defect);
  }

  /**
   * Returns the record or the running operation of a key; empty if there is none. Claims nothing.
   *
   * @throws StoreException if the store failed
   */
  public Optional<ClaimResult> find(IdempotencyKey key, Procedure procedure) {
    Optional<ClaimResult.InFlight> own = leases.inFlight(key);
    if (own.isPresent()) {
      return Optional.of(own.get());
    }
    return ofStore(() -> checked.ready().find(key, RecordedProcedure.of(procedure)));
  }

  private ClaimResult claim(Procedure procedure, ClaimRequest request) {
    IdempotencyStore sound = checked.ready();
    return procedure.execution() == Execution.TRANSACTIONAL
        ? transactional(sound).claimInTransaction(request)
        : sound.claim(request);
  }

  /**
   * Returns whether the calls of a procedure must be claimed, run and settled on one thread,
   * because the transaction is bound to that thread.
   */
  public boolean bindsThreads(Procedure procedure) {
    return procedure.execution() == Execution.TRANSACTIONAL && transactional(store).bindsThreads();
  }

  private static TransactionalStore transactional(IdempotencyStore store) {
    if (store instanceof TransactionalStore transactional) {
      return transactional;
    }
    throw new IllegalStateException("the store does not support transactions"); // checked at set-up
  }

  /**
   * Returns the expiry time of a record that is about to be replayed. Restarts the retention if the
   * procedure requires that. If this fails, the record keeps its expiry time, and the answer is
   * still sent.
   */
  public Instant retain(
      Procedure procedure, ClaimRequest request, ClaimResult.Recorded recorded, CallEvents events) {
    if (!procedure.retainedFromLastReplay()) {
      return recorded.expires();
    }
    try {
      return store.retain(request, recorded);
    } catch (Throwable failure) {
      events.retentionFailed(recorded.operationId(), failure);
      return recorded.expires();
    }
  }

  /**
   * Opens a transaction for a call without a key.
   *
   * @throws StoreException if the store cannot be reached
   */
  public StoreTransaction begin(Optional<Caller> caller) {
    return transactional(checked.ready()).begin(caller);
  }

  public InFlightWaiter waiter() {
    return waiter;
  }

  public IdempotencyStore store() {
    return store;
  }

  /**
   * Checks the store, if this was not possible at start-up.
   *
   * @throws StoreException if the store has not passed the checks
   */
  public void check() {
    IdempotencyStore unused = checked.ready();
  }

  /** Returns the shard of this engine; empty without shards. */
  public Optional<String> shard() {
    return checked.shard();
  }

  /** Returns the ending of a log line about one shard; empty text without shards. */
  public String ofShard() {
    return shard().map(name -> " of shard " + name).orElse("");
  }

  /** Returns how long a claim lasts unless it is renewed. */
  public Duration lease() {
    return store.lease();
  }

  /** Returns the owner of a claim that was won. */
  public OwnedClaim own(Claim claim, KeyedRequest request, CallEvents events) {
    return new OwnedClaim(leases, request, claim, events, System.nanoTime());
  }

  /**
   * Renews an operation's lease until it ends, and emits the {@code claimed} event.
   *
   * @param took how long the claim took
   */
  public void track(OwnedClaim operation, Duration took) {
    operation.renew();
    waiter.won(operation.request().key());
    if (!operation.claim().isOptimistic()) {
      operation.events().claimed(operation.claim(), took);
    }
  }

  /** Returns whether duplicates of an operation wait in this process, or have come lately. */
  public boolean isAwaited(OwnedClaim operation) {
    return waiter.isAwaited(operation.request().key()) || operation.wasRetriedWithin(lease());
  }

  public RateLimitedLog log() {
    return log;
  }

  public RunningCalls running() {
    return running;
  }

  public Settler settler() {
    return settler;
  }

  /**
   * Refuses the calls that wait, and tries once more to record late answers. Handlers that still
   * run keep their keys: their leases are renewed until they end, or the process does.
   */
  @Override
  public void close() {
    Closing.all(List.of(waiter::close, late::close, this::warnOfHandlers, this::stop));
  }

  private void warnOfHandlers() {
    int left = leases.count();
    if (left > 0) {
      log.warn(
          "close",
          null,
          "%d handlers%s still run after the interceptor is closed; their keys stay reserved until the handlers end, or this process does"
              .formatted(left, ofShard()));
    }
  }

  private void stop() {
    if (live.getAndSet(false)) {
      settings.listeners().each(listener -> listener.stopped(counts));
    }
  }
}
