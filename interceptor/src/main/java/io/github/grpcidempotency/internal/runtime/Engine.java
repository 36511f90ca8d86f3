package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.internal.log.RateLimitedLog;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.SetupException;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.RecordedProcedure;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.StoreTransaction;
import io.github.grpcidempotency.store.StoredOperation;
import io.github.grpcidempotency.store.TransactionalStore;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * What all calls of one interceptor share: it claims, keeps leases, settles and lets duplicates
 * wait, for gRPC calls and for other work. Not for use by services. Thread-safe.
 */
public final class Engine implements AutoCloseable {
  private final RateLimitedLog log = RateLimitedLog.of(LoggerFactory.getLogger(Engine.class));
  private final IdempotencyStore store;
  private final String keyName;
  private final SafeListener listener;
  private final LeaseKeeper leases;
  private final LateRecorder lateRecorder;
  private final UnprotectedCalls unprotected;
  private final Settler settler;
  private final InFlightWaiter waiter;
  private final Executor executor;

  /**
   * Makes an engine.
   *
   * @param keyName what clients call the key
   * @param executor resumes calls that had to wait
   */
  public Engine(
      IdempotencyStore store, IdempotencyListener listener, String keyName, Executor executor) {
    this.store = store;
    this.keyName = keyName;
    this.listener = new SafeListener(listener);
    this.leases = new LeaseKeeper(store, this.listener);
    this.lateRecorder = new LateRecorder(leases, this.listener);
    this.unprotected = new UnprotectedCalls(log, this.listener);
    this.settler = new Settler(leases, lateRecorder, this.listener, unprotected, log);
    this.waiter = new InFlightWaiter(this::claim, leases, store);
    this.executor = new CallerRunsExecutor(executor);
  }

  /**
   * Claims a key, and returns the result; never throws if the store fails. If this process itself
   * holds the key, the store is not asked: the owner may have been cut off from it. A reservation
   * that an older server has made and abandoned is claimed once more, with the fingerprint that the
   * older server made.
   */
  public ClaimResult claim(KeyedRequest request) {
    Optional<ClaimResult.InFlight> own = leases.inFlight(request.key());
    if (own.isPresent()) {
      return own.get();
    }
    try {
      ClaimResult met = claim(request.procedure(), request.claim());
      Optional<ClaimRequest> older = request.takeOverOfOlderVersion(met);
      return older.isPresent() ? claim(request.procedure(), older.get()) : met;
    } catch (StoreException outage) {
      return new ClaimResult.Unanswered(outage);
    } catch (RuntimeException defect) {
      return new ClaimResult.Unanswered(new StoreException("the store has a defect", defect));
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
          new ClaimResult.Unanswered(new StoreException("the store has a defect", defect)));
    }
  }

  private ClaimResult claim(Procedure procedure, ClaimRequest request) {
    return procedure.execution() == Execution.TRANSACTIONAL
        ? transactional().claimInTransaction(request)
        : store.claim(request);
  }

  private TransactionalStore transactional() {
    if (store instanceof TransactionalStore transactional) {
      return transactional;
    }
    throw new IllegalStateException("the store has no transactions"); // checked at set-up
  }

  /**
   * Returns when a record that is about to be replayed expires. Its retention may begin anew. If
   * that fails, the record expires earlier, but the answer is still sent.
   */
  public Instant retain(KeyedRequest request, ClaimResult.Recorded recorded) {
    return retain(request.procedure(), request.claim(), recorded);
  }

  /** Returns when a record that was found, and is about to be reported, expires. */
  public Instant retain(Procedure procedure, ClaimRequest request, ClaimResult.Recorded recorded) {
    if (!procedure.retainedFromLastReplay()) {
      return recorded.expires();
    }
    try {
      return store.retain(request, recorded);
    } catch (RuntimeException failure) {
      log.warn(
          procedure.name() + " retain",
          failure,
          procedure.name() + ": a record's retention could not be extended");
      return recorded.expires();
    }
  }

  /** Reports with an event and a warning that a call with a key is not protected. */
  public void unprotected(Procedure procedure, UnprotectedCause cause, @Nullable Throwable why) {
    unprotected.notify(procedure, cause, why);
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

  /** Returns the waiter, which lets duplicates wait. */
  public InFlightWaiter waiter() {
    return waiter;
  }

  /**
   * Opens the operations of procedures, to be found by their ids. Close the result before this
   * engine.
   *
   * @param view converts an operation to what the calls get that have waited for it
   * @throws SetupException if the store cannot find operations by id
   * @throws StoreException if the store cannot be reached
   */
  public <V> Operations<V> operations(
      Collection<Procedure> procedures, Function<StoredOperation, V> view) {
    return Operations.open(store, procedures, executor, view);
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
   * Renews a won claim's lease until the claim is settled, or its call can never be closed.
   *
   * @param call the object through which the call is closed; held weakly
   */
  public void track(Claim claim, Object call) {
    leases.track(claim, call);
    notify(events -> events.claimed(claim.request().procedure().name(), claim.operationId()));
  }

  /** Returns the log for messages that may repeat with every call. */
  public RateLimitedLog log() {
    return log;
  }

  /** Returns the settler, which settles claims. */
  public Settler settler() {
    return settler;
  }

  /** Notifies the service's listener of an event. */
  public void notify(Consumer<IdempotencyListener> event) {
    listener.notify(event);
  }

  /** Stops all background work. */
  @Override
  public void close() {
    waiter.close();
    lateRecorder.close();
    leases.close();
  }
}
