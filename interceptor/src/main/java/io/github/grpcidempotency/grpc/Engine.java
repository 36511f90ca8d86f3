package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.decision.Standing;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.runtime.IdempotencyListener;
import io.github.grpcidempotency.runtime.InFlightWaiter;
import io.github.grpcidempotency.runtime.LateRecorder;
import io.github.grpcidempotency.runtime.LeaseKeeper;
import io.github.grpcidempotency.runtime.SafeListener;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.StoreTransaction;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** What all calls of one interceptor share. */
final class Engine implements AutoCloseable {
  private final IdempotencyStore store;
  private final String keyName;
  private final SafeListener listener;
  private final LeaseKeeper leases;
  private final LateRecorder lateRecorder;
  private final InFlightWaiter waiter;
  private final Executor executor;

  Engine(IdempotencyStore store, IdempotencyListener listener, String keyName, Executor executor) {
    this.store = store;
    this.keyName = keyName;
    this.listener = new SafeListener(listener);
    this.leases = new LeaseKeeper(store, this.listener);
    this.lateRecorder = new LateRecorder(leases, this.listener);
    this.waiter = new InFlightWaiter(this::claim, leases, store);
    this.executor = executor;
  }

  /**
   * Claims, and tells what came of it; never throws for a store out of reach. A key that this very
   * process holds is answered without asking the store: its owner may have been cut off from it.
   */
  ClaimResult claim(ClaimRequest request) {
    Optional<Standing.InFlight> own = leases.standing(request.key());
    if (own.isPresent()) {
      return new ClaimResult.InFlight(own.get());
    }
    try {
      return store.claim(request);
    } catch (StoreException outage) {
      return new ClaimResult.Unanswered(outage);
    }
  }

  /**
   * Opens a transaction for a call without a key.
   *
   * @throws StoreException if the store cannot be reached
   */
  StoreTransaction begin(Optional<Caller> caller) {
    return store.begin(caller);
  }

  /** Returns where calls are resumed that had to wait. */
  Executor executor() {
    return executor;
  }

  InFlightWaiter waiter() {
    return waiter;
  }

  /** Returns how long a claim lasts unless it is renewed. */
  Duration lease() {
    return store.lease();
  }

  /** Returns the name of the header that carries the key. */
  String keyName() {
    return keyName;
  }

  LeaseKeeper leases() {
    return leases;
  }

  LateRecorder lateRecorder() {
    return lateRecorder;
  }

  void tell(Consumer<IdempotencyListener> event) {
    listener.tell(event);
  }

  @Override
  public void close() {
    waiter.close();
    lateRecorder.close();
    leases.close();
  }
}
