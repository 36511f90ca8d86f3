package io.github.grpcidempotency.runtime;

import io.github.grpcidempotency.decision.Standing;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.StoreTransaction;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * What all calls of one interceptor share: it claims, keeps leases, settles and lets duplicates
 * wait, for calls that come by gRPC or otherwise. Not for use by services. Thread-safe.
 */
public final class Engine implements AutoCloseable {
  private final IdempotencyStore store;
  private final String keyName;
  private final SafeListener listener;
  private final LeaseKeeper leases;
  private final LateRecorder lateRecorder;
  private final Settler settler;
  private final InFlightWaiter waiter;
  private final Executor executor;

  /**
   * Makes an engine.
   *
   * @param keyName what clients call the key
   * @param executor where calls go on that had to wait
   */
  public Engine(
      IdempotencyStore store, IdempotencyListener listener, String keyName, Executor executor) {
    this.store = store;
    this.keyName = keyName;
    this.listener = new SafeListener(listener);
    this.leases = new LeaseKeeper(store, this.listener);
    this.lateRecorder = new LateRecorder(leases, this.listener);
    this.settler = new Settler(leases, lateRecorder, this.listener);
    this.waiter = new InFlightWaiter(this::claim, leases, store);
    this.executor = executor;
  }

  /**
   * Claims, and tells what came of it; never throws for a store out of reach. A key that this very
   * process holds is answered without asking the store: its owner may have been cut off from it.
   */
  public ClaimResult claim(ClaimRequest request) {
    Optional<Standing.InFlight> own = leases.standing(request.key());
    if (own.isPresent()) {
      return new ClaimResult.InFlight(own.get());
    }
    try {
      return store.claim(request);
    } catch (StoreException outage) {
      return new ClaimResult.Unanswered(outage);
    } catch (RuntimeException defect) {
      return new ClaimResult.Unanswered(new StoreException("the store has a defect", defect));
    }
  }

  /**
   * Opens a transaction for a call without a key.
   *
   * @throws StoreException if the store cannot be reached
   */
  public StoreTransaction begin(Optional<Caller> caller) {
    return store.begin(caller);
  }

  /** Returns where calls are resumed that had to wait. */
  public Executor executor() {
    return executor;
  }

  /** Returns where duplicates wait. */
  public InFlightWaiter waiter() {
    return waiter;
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
   * Keeps a won claim's lease from ending until it is settled, or its call can never be closed.
   *
   * @param call whoever can close the call; held weakly
   */
  public void hold(Claim claim, Object call) {
    leases.hold(claim, call);
    tell(events -> events.claimed(claim.request().procedure().name(), claim.operationId()));
  }

  /** Returns who settles claims. */
  public Settler settler() {
    return settler;
  }

  /** Tells the service's listener of an event. */
  public void tell(Consumer<IdempotencyListener> event) {
    listener.tell(event);
  }

  /** Stops everything that goes on beside the calls. */
  @Override
  public void close() {
    waiter.close();
    lateRecorder.close();
    leases.close();
  }
}
