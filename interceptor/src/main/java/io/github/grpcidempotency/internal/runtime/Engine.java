package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.LiveCounts;
import io.github.grpcidempotency.event.ProcedureInfo;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.event.DecisionLog;
import io.github.grpcidempotency.internal.event.Listeners;
import io.github.grpcidempotency.internal.event.ProcedureInfos;
import io.github.grpcidempotency.internal.log.RateLimitedLog;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.ClaimTiming;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.SetupException;
import io.github.grpcidempotency.procedure.WaitLimits;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.RecordedProcedure;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.StoreTransaction;
import io.github.grpcidempotency.store.TransactionalStore;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.LoggerFactory;

/**
 * What all calls of one interceptor share, or all whose callers live on one shard: it claims, keeps
 * leases, settles and lets duplicates wait, for gRPC calls and for other work. Not for use by
 * services. Thread-safe.
 */
public final class Engine implements AutoCloseable {
  private final RateLimitedLog log = RateLimitedLog.of(LoggerFactory.getLogger(Engine.class));
  private final IdempotencyStore store;
  private final String keyName;
  private final ClaimTiming timing;
  private final Listeners listeners;
  private final DecisionLog decisions;
  private final ProcedureInfos infos;
  private final Optional<String> shard;
  private final LeaseKeeper leases;
  private final LateRecorder lateRecorder;
  private final LateReleaser lateReleaser = new LateReleaser();
  private final Settler settler;
  private final InFlightWaiter waiter;
  private final RunningCalls running;
  private final Executor executor;
  private final Collection<Operations> opened = new CopyOnWriteArrayList<>();
  private final LiveCounts counts = new Counts();
  private final AtomicBoolean live = new AtomicBoolean();

  /** What this process is busy with. */
  private final class Counts implements LiveCounts {
    @Override
    public Optional<String> shard() {
      return shard;
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
      return lateRecorder.count();
    }

    @Override
    public int operationsWaiting() {
      return opened.stream().mapToInt(Operations::waiting).sum();
    }
  }

  /**
   * Makes an engine.
   *
   * @param listeners hear what happens to calls and leases
   * @param decisions says it in the log
   * @param keyName what clients call the key
   * @param timing when transactional calls are claimed whose procedures do not say so
   * @param callLimit how long a call without a deadline may run
   * @param limits how many calls may wait
   * @param executor resumes calls that had to wait
   */
  public Engine(
      IdempotencyStore store,
      Listeners listeners,
      DecisionLog decisions,
      String keyName,
      ClaimTiming timing,
      Duration callLimit,
      WaitLimits limits,
      Executor executor) {
    this(
        store,
        Optional.empty(),
        listeners,
        decisions,
        new ProcedureInfos(),
        keyName,
        timing,
        callLimit,
        new WaitingRoom(limits),
        executor);
  }

  Engine(
      IdempotencyStore store,
      Optional<String> shard,
      Listeners listeners,
      DecisionLog decisions,
      ProcedureInfos infos,
      String keyName,
      ClaimTiming timing,
      Duration callLimit,
      WaitingRoom room,
      Executor executor) {
    this.infos = infos;
    this.shard = shard;
    this.store = store;
    this.listeners = listeners;
    this.decisions = decisions;
    this.keyName = keyName;
    this.timing = timing;
    this.leases = new LeaseKeeper(store, listeners, shard);
    this.lateRecorder = new LateRecorder(leases);
    this.settler = new Settler(leases, lateRecorder, lateReleaser);
    this.waiter = new InFlightWaiter(this::find, leases, store, room);
    this.running = new RunningCalls(store.lease(), callLimit);
    this.executor = new CallerRunsExecutor(executor);
  }

  /** Lets it be heard that this engine has started. */
  public void start() {
    live.set(true);
    listeners.started(counts);
  }

  /**
   * Returns who hears of a call, or of a piece of work, that arrives on the current thread. Its
   * caller and its key are not known yet.
   */
  public CallEvents events(Procedure procedure, Entry entry) {
    return CallEvents.capture(listeners, decisions, info(procedure, entry));
  }

  /** Returns what events say of a procedure; the same object each time. */
  public ProcedureInfo info(Procedure procedure, Entry entry) {
    return infos.of(procedure, entry);
  }

  /** Returns who hears of a call of which it is not known what procedure it is about. */
  public CallEvents events(ProcedureInfo unknown) {
    return CallEvents.capture(listeners, decisions, unknown);
  }

  /**
   * Claims a key, and returns the result; never throws if the store fails. If this process itself
   * holds the key, the store is not asked: the owner may have been cut off from it. A reservation
   * that an older server has made and abandoned is claimed once more, with the fingerprint that the
   * older server made.
   *
   * <p>A claim that travels with the handler's first statement is returned as won, although it is
   * not: the operation says that it is to be {@linkplain #confirm confirmed}.
   */
  public ClaimResult claim(KeyedRequest request) {
    Optional<ClaimResult.InFlight> own = leases.inFlight(request.key());
    if (own.isPresent()) {
      return own.get();
    }
    try {
      if (claimsWithFirstStatement(request)) {
        return new ClaimResult.Won(transactional().claimLater(request.claim()));
      }
      ClaimResult met = claim(request.procedure(), request.claim());
      Optional<ClaimRequest> older = request.takeOverOfOlderVersion(met);
      return older.isPresent() ? claim(request.procedure(), older.get()) : met;
    } catch (StoreException outage) {
      return new ClaimResult.Unanswered(outage);
    } catch (RuntimeException defect) {
      return new ClaimResult.Unanswered(
          new StoreException("the store threw an unexpected exception", defect));
    }
  }

  /**
   * Returns what is recorded or running under a key; empty if nothing is known. Claims nothing, and
   * never throws if the store fails.
   */
  public Optional<ClaimResult> find(IdempotencyKey key, Procedure procedure) {
    Optional<ClaimResult.InFlight> own = leases.inFlight(key);
    if (own.isPresent()) {
      return Optional.of(own.get());
    }
    try {
      return store.find(key, RecordedProcedure.of(procedure));
    } catch (StoreException outage) {
      return Optional.of(new ClaimResult.Unanswered(outage));
    } catch (RuntimeException defect) {
      return Optional.of(
          new ClaimResult.Unanswered(
              new StoreException("the store threw an unexpected exception", defect)));
    }
  }

  /** A call that may have met another one is claimed before its handler: it is not to run twice. */
  private boolean claimsWithFirstStatement(KeyedRequest request) {
    return Setup.claimsWithFirstStatement(request.procedure(), timing)
        && !request.retry()
        && !leases.isTried(request.key());
  }

  private ClaimResult claim(Procedure procedure, ClaimRequest request) {
    return procedure.execution() == Execution.TRANSACTIONAL
        ? transactional().claimInTransaction(request)
        : store.claim(request);
  }

  /**
   * Returns whether a call of a procedure is claimed, run and settled on one thread, because its
   * transaction is bound to that thread.
   */
  public boolean bindsThreads(Procedure procedure) {
    return procedure.execution() == Execution.TRANSACTIONAL && transactional().bindsThreads();
  }

  private TransactionalStore transactional() {
    if (store instanceof TransactionalStore transactional) {
      return transactional;
    }
    throw new IllegalStateException("the store does not support transactions"); // checked at set-up
  }

  /**
   * Returns when a record that is about to be replayed expires. Its retention may begin anew. If
   * that fails, the record expires earlier, but the answer is still sent.
   */
  public Instant retain(KeyedRequest request, ClaimResult.Recorded recorded, CallEvents events) {
    return retain(request.procedure(), request.claim(), recorded, events);
  }

  /** Returns when a record that was found, and is about to be reported, expires. */
  public Instant retain(
      Procedure procedure, ClaimRequest request, ClaimResult.Recorded recorded, CallEvents events) {
    if (!procedure.retainedFromLastReplay()) {
      return recorded.expires();
    }
    try {
      return store.retain(request, recorded);
    } catch (RuntimeException failure) {
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
    return transactional().begin(caller);
  }

  /** Returns the executor that resumes calls that had to wait. */
  public Executor executor() {
    return executor;
  }

  /** Returns the waiter, which lets calls wait for the call that holds their key. */
  public InFlightWaiter waiter() {
    return waiter;
  }

  /**
   * Opens the operations of procedures, to be found by their ids. Close the result before this
   * engine.
   *
   * @throws SetupException if the store cannot find operations by id
   * @throws StoreException if the store cannot be reached
   */
  public Operations operations(Collection<Procedure> procedures) {
    Operations operations = Operations.open(store, procedures, executor);
    opened.add(operations);
    return operations;
  }

  /** Returns the shard whose calls these are; empty if the store has none. */
  public Optional<String> shard() {
    return shard;
  }

  /** Returns what a line of the log ends with that is about one shard. */
  public String ofShard() {
    return shard.map(name -> " of shard " + name).orElse("");
  }

  /** Returns how long a claim lasts unless it is renewed. */
  public Duration lease() {
    return store.lease();
  }

  /** Returns the name of the header that carries the key. */
  public String keyName() {
    return keyName;
  }

  /**
   * Renews an operation's lease until its claim is settled. If the claim is already won, emits the
   * {@code claimed} event.
   *
   * @param took how long the claim took
   */
  public void track(Operation operation, Duration took) {
    leases.track(operation);
    if (operation.isConfirmed()) {
      waiter.won(operation.claim().request().key());
      operation.events().claimed(operation.claim(), took);
    }
  }

  /**
   * Finds out whether the claim of an operation is won, now that its handler has ended. If it is,
   * it can be settled. If not, nothing of the handler remains, and the key is to be claimed {@link
   * KeyedRequest#again}.
   *
   * @param took how long it has taken so far to claim
   * @throws StoreException if the store could not be asked; nothing of the handler remains either
   */
  public boolean confirm(Operation operation, Duration took) {
    if (operation.isConfirmed()) {
      return true;
    }
    long begun = System.nanoTime();
    try {
      if (operation.confirm()) {
        operation.events().claimed(operation.claim(), took.plusNanos(System.nanoTime() - begun));
        return true;
      }
    } catch (StoreException unasked) {
      throw unasked;
    } catch (RuntimeException | Error defect) {
      throw new StoreException("the store threw an unexpected exception", defect);
    } finally {
      if (!operation.isConfirmed()) {
        leases.drop(operation.claim());
      }
    }
    return false;
  }

  /** Returns the log for messages that may repeat with every call. */
  public RateLimitedLog log() {
    return log;
  }

  /** Returns the calls whose handlers run. */
  public RunningCalls running() {
    return running;
  }

  /** Returns the settler, which settles claims. */
  public Settler settler() {
    return settler;
  }

  /** Stops all background work. */
  @Override
  public void close() {
    running.close();
    waiter.close();
    lateRecorder.close();
    lateReleaser.close();
    leases.close();
    if (live.getAndSet(false)) {
      listeners.stopped(counts);
    }
  }
}
