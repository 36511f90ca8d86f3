package io.github.grpcidempotency.runtime;

import io.github.grpcidempotency.decision.Standing;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.StoreException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the leases of this process's running calls, all in one statement, three times a lease. A
 * slow handler so keeps its key, and a crashed process frees its keys within a lease.
 *
 * <p>A call is held weakly: one whose handler has dropped it can never be closed, so once it is
 * collected its outcome is marked as unknown and its lease left to end.
 *
 * <p>Thread-safe. One daemon thread, started with the first call.
 */
final class LeaseKeeper implements AutoCloseable {
  private static final Logger logger = LoggerFactory.getLogger(LeaseKeeper.class);

  private final IdempotencyStore store;
  private final SafeListener listener;
  private final ScheduledExecutorService timer;
  private final Map<IdempotencyKey, Held> held = new ConcurrentHashMap<>();

  private volatile Consumer<IdempotencyKey> dropped = key -> {};

  private record Held(Claim claim, WeakReference<Object> call) {}

  /** Makes the keeper of a store's leases. */
  public LeaseKeeper(IdempotencyStore store, SafeListener listener) {
    this.store = store;
    this.listener = listener;
    this.timer =
        Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("idempotency-lease"));
    long thirdOfLease = Math.max(1, store.lease().toMillis() / 3);
    ScheduledFuture<?> unused =
        timer.scheduleWithFixedDelay(
            this::renew, thirdOfLease, thirdOfLease, TimeUnit.MILLISECONDS);
  }

  /**
   * Keeps a claim's lease from ending, for as long as its call can still be closed.
   *
   * @param call whoever can close the call
   */
  public void hold(Claim claim, Object call) {
    held.put(claim.request().key(), new Held(claim, new WeakReference<>(call)));
  }

  /** Lets a claim's lease end. */
  public void drop(Claim claim) {
    IdempotencyKey key = claim.request().key();
    Held entry = held.get(key);
    if (entry != null && entry.claim() == claim && held.remove(key, entry)) {
      dropped.accept(key);
    }
  }

  /** Sets who is told of keys that this process holds no more; it must not block. */
  void onDrop(Consumer<IdempotencyKey> listener) {
    dropped = listener;
  }

  /** Returns the call of this process that holds a key, as far as this process knows. */
  public Optional<Standing.InFlight> standing(IdempotencyKey key) {
    return Optional.ofNullable(held.get(key)).map(entry -> inFlight(entry.claim().request()));
  }

  /** Stops renewing. Leases then end by themselves. */
  @Override
  public void close() {
    timer.shutdownNow();
  }

  private void renew() {
    try {
      dropForgotten();
      List<Claim> claims = new ArrayList<>();
      held.values().forEach(entry -> claims.add(entry.claim()));
      if (!claims.isEmpty()) {
        dropLost(claims, store.renew(claims));
      }
    } catch (StoreException unreachable) {
      logger.warn("could not renew {} idempotency leases; trying again", held.size(), unreachable);
    } catch (RuntimeException unexpected) {
      logger.error("could not renew idempotency leases", unexpected);
    }
  }

  private void dropForgotten() {
    for (Held entry : held.values()) {
      if (entry.call().refersTo(null)) {
        Claim claim = entry.claim();
        logger.warn("operation {} was dropped by its handler unanswered", claim.operationId());
        drop(claim);
        Claim.Settled unused = claim.hold();
      }
    }
  }

  private void dropLost(List<Claim> claims, Set<UUID> renewed) {
    for (Claim claim : claims) {
      if (!renewed.contains(claim.operationId()) && holds(claim)) {
        drop(claim);
        logger.warn("operation {} lost its lease while it was running", claim.operationId());
        listener.tell(events -> events.leaseLost(claim.operationId()));
      }
    }
  }

  private Standing.InFlight inFlight(ClaimRequest request) {
    return new Standing.InFlight(
        Optional.of(request.fingerprint()),
        Optional.of(request.procedure().name()),
        store.lease(),
        false);
  }

  private boolean holds(Claim claim) {
    Held entry = held.get(claim.request().key());
    return entry != null && entry.claim() == claim;
  }
}
