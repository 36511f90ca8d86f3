package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.internal.background.DaemonThreads;
import io.github.grpcidempotency.internal.background.RepeatedTask;
import io.github.grpcidempotency.internal.log.RateLimitedLog;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.IdempotencyStore;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;

/**
 * Renews the leases of this process's running calls, all in one statement, three times per lease.
 * Thus a slow handler keeps its key, and a crashed process frees its keys within a lease.
 *
 * <p>Calls are held weakly. A call that its handler has dropped can never be closed, so once it is
 * collected, its outcome is marked as unknown and its lease is left to end.
 *
 * <p>Thread-safe. One daemon thread, which runs until it is closed.
 */
final class LeaseKeeper implements AutoCloseable {
  private final RateLimitedLog log;
  private final IdempotencyStore store;
  private final SafeListener listener;
  private final ScheduledExecutorService timer;

  /** A key has more than one entry if a call was paused for longer than its lease. */
  private final Map<IdempotencyKey, List<Held>> held = new ConcurrentHashMap<>();

  private volatile Consumer<IdempotencyKey> dropped = key -> {};

  private record Held(Claim claim, WeakReference<Object> call) {
    boolean isForgotten() {
      return call.refersTo(null);
    }
  }

  /** Makes the keeper of a store's leases. */
  public LeaseKeeper(IdempotencyStore store, SafeListener listener) {
    this(
        store,
        listener,
        DaemonThreads.newTimer("idempotency-lease"),
        RateLimitedLog.of(LoggerFactory.getLogger(LeaseKeeper.class)));
  }

  LeaseKeeper(
      IdempotencyStore store,
      SafeListener listener,
      ScheduledExecutorService timer,
      RateLimitedLog log) {
    this.log = log;
    this.store = store;
    this.listener = listener;
    this.timer = timer;
    long thirdOfLease = Math.max(1, store.lease().toMillis() / 3);
    ScheduledFuture<?> unused =
        timer.scheduleWithFixedDelay(
            RepeatedTask.of("renew idempotency leases", log, this::renew),
            thirdOfLease,
            thirdOfLease,
            TimeUnit.MILLISECONDS);
  }

  /**
   * Renews a claim's lease for as long as its call can still be closed.
   *
   * @param call the object through which the call is closed
   */
  public void track(Claim claim, Object call) {
    Held entry = new Held(claim, new WeakReference<>(call));
    held.compute(
        claim.request().key(),
        (key, before) -> {
          List<Held> now = new ArrayList<>(before == null ? List.of() : without(claim, before));
          now.add(entry);
          return now;
        });
  }

  /** Lets a claim's lease end. */
  public void drop(Claim claim) {
    IdempotencyKey key = claim.request().key();
    boolean wasHeld = holds(claim);
    held.computeIfPresent(
        key,
        (sameKey, before) -> {
          List<Held> left = without(claim, before);
          return left.isEmpty() ? null : left;
        });
    if (wasHeld) {
      dropped.accept(key);
    }
  }

  /** Sets the listener for keys that this process no longer holds; it must not block. */
  void onDrop(Consumer<IdempotencyKey> listener) {
    dropped = listener;
  }

  /** Returns the call of this process that holds a key, as far as this process knows. */
  public Optional<ClaimResult.InFlight> inFlight(IdempotencyKey key) {
    return of(key).stream().findFirst().map(entry -> inFlight(entry.claim()));
  }

  /** Stops renewing. Leases then end by themselves. */
  @Override
  public void close() {
    timer.shutdownNow();
  }

  private void renew() {
    try {
      List<Claim> claims = new ArrayList<>();
      all().filter(entry -> !entry.isForgotten()).forEach(entry -> claims.add(entry.claim()));
      if (!claims.isEmpty()) {
        dropLost(claims, store.renew(claims));
      }
    } finally {
      dropForgotten();
    }
  }

  private void dropForgotten() {
    boolean reachable = true;
    for (Held entry : all().toList()) {
      if (entry.isForgotten()) {
        Claim claim = entry.claim();
        warn(claim, "was dropped by its handler without an answer");
        // A lease ends by itself, and each try may take long. A transaction holds a connection.
        if (reachable || claim.transaction().isPresent()) {
          reachable = markUnknown(claim);
        }
        drop(claim);
      }
    }
  }

  private boolean markUnknown(Claim claim) {
    try {
      Claim.Settled unused = claim.markUnknown();
      return true;
    } catch (Throwable unmarked) {
      log.warn("mark", unmarked, "could not mark a dropped operation's outcome as unknown");
      return false;
    }
  }

  private void dropLost(List<Claim> claims, Set<UUID> renewed) {
    for (Claim claim : claims) {
      if (!renewed.contains(claim.operationId()) && holds(claim)) {
        drop(claim);
        warn(claim, "lost its lease while it was running");
        listener.notify(events -> events.leaseLost(claim.operationId()));
      }
    }
  }

  private void warn(Claim claim, String what) {
    log.warn(
        claim.request().procedure().name() + what,
        null,
        "operation %s %s".formatted(claim.operationId(), what));
  }

  /** A transactional operation cannot be found by its id before it is recorded. */
  private ClaimResult.InFlight inFlight(Claim claim) {
    ClaimRequest request = claim.request();
    return new ClaimResult.InFlight(
        Optional.of(request.fingerprint()),
        Optional.of(request.procedure().name()),
        claim.transaction().isPresent() ? Optional.empty() : Optional.of(claim.operationId()),
        Optional.of(store.lease()),
        false);
  }

  private boolean holds(Claim claim) {
    return of(claim.request().key()).stream().anyMatch(entry -> entry.claim() == claim);
  }

  private List<Held> of(IdempotencyKey key) {
    return held.getOrDefault(key, List.of());
  }

  private Stream<Held> all() {
    return held.values().stream().flatMap(List::stream);
  }

  private static List<Held> without(Claim claim, List<Held> entries) {
    return entries.stream().filter(entry -> entry.claim() != claim).toList();
  }
}
