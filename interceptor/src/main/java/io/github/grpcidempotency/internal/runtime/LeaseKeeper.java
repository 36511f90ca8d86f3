package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.internal.background.DaemonThreads;
import io.github.grpcidempotency.internal.background.RepeatedTask;
import io.github.grpcidempotency.internal.event.Listeners;
import io.github.grpcidempotency.internal.log.RateLimitedLog;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.IdempotencyStore;
import java.time.Duration;
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
 * <p>Renewing must not wait for a locked row, and nothing else runs on the thread that renews: a
 * call that blocks it would let the leases of all others end.
 *
 * <p>An operation whose claim is not confirmed has no lease yet. Its duplicates are told that it
 * runs as soon as its claim is known to be won, so that they need no connection; before that, they
 * ask the store.
 *
 * <p>Thread-safe. One daemon thread, which runs until it is closed.
 */
final class LeaseKeeper implements AutoCloseable {
  private final IdempotencyStore store;
  private final Listeners listeners;
  private final Optional<String> shard;
  private final ScheduledExecutorService timer;

  /** A key has more than one entry if a call was paused for longer than its lease. */
  private final Map<IdempotencyKey, List<Held>> held = new ConcurrentHashMap<>();

  private volatile Consumer<IdempotencyKey> dropped = key -> {};

  private record Held(Operation operation) {
    Claim claim() {
      return operation.claim();
    }
  }

  /** Makes the keeper of a store's leases. */
  public LeaseKeeper(IdempotencyStore store, Listeners listeners) {
    this(store, listeners, Optional.empty());
  }

  /**
   * Makes the keeper of a store's leases.
   *
   * @param shard the store's name, if it is one of several
   */
  LeaseKeeper(IdempotencyStore store, Listeners listeners, Optional<String> shard) {
    this(
        store,
        listeners,
        shard,
        DaemonThreads.newTimer("idempotency-lease"),
        RateLimitedLog.of(LoggerFactory.getLogger(LeaseKeeper.class)));
  }

  LeaseKeeper(
      IdempotencyStore store,
      Listeners listeners,
      ScheduledExecutorService timer,
      RateLimitedLog log) {
    this(store, listeners, Optional.empty(), timer, log);
  }

  private LeaseKeeper(
      IdempotencyStore store,
      Listeners listeners,
      Optional<String> shard,
      ScheduledExecutorService timer,
      RateLimitedLog log) {
    this.shard = shard;
    this.store = store;
    this.listeners = listeners;
    this.timer = timer;
    long thirdOfLease = Math.max(1, store.lease().toMillis() / 3);
    String task = "renew idempotency leases" + shard.map(name -> " of shard " + name).orElse("");
    ScheduledFuture<?> unused =
        timer.scheduleWithFixedDelay(
            RepeatedTask.of(task, log, this::renew),
            thirdOfLease,
            thirdOfLease,
            TimeUnit.MILLISECONDS);
  }

  /** Renews an operation's lease until its claim is dropped. */
  public void track(Operation operation) {
    Claim claim = operation.claim();
    Held entry = new Held(operation);
    held.compute(
        claim.request().key(),
        (key, before) -> {
          List<Held> now = before == null ? new ArrayList<>(1) : without(claim, before);
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
    for (Held entry : of(key)) {
      if (entry.claim().isWon()) {
        return Optional.of(inFlight(entry.claim()));
      }
    }
    return Optional.empty();
  }

  /** Returns whether a call of this process runs under a key, or tries to. */
  boolean isTried(IdempotencyKey key) {
    return held.containsKey(key);
  }

  /** Returns how many leases this process holds. Does not block. */
  int count() {
    return (int) all().count();
  }

  /** Stops renewing. Leases then end by themselves. */
  @Override
  public void close() {
    timer.shutdownNow();
  }

  private void renew() {
    List<Held> kept = all().filter(entry -> entry.operation().isConfirmed()).toList();
    if (!kept.isEmpty()) {
      renew(kept);
    }
  }

  private void renew(List<Held> kept) {
    long begun = System.nanoTime();
    Set<UUID> renewed;
    try {
      renewed = store.renew(kept.stream().map(Held::claim).toList());
    } catch (Throwable failure) {
      listeners.notify(new IdempotencyEvent.RenewalFailed(kept.size(), failure, shard));
      throw failure;
    }
    Duration took = Duration.ofNanos(System.nanoTime() - begun);
    int lost = dropLost(kept, renewed);
    listeners.notify(new IdempotencyEvent.LeasesRenewed(kept.size(), lost, took, shard));
  }

  /** Returns how many operations belong to somebody else now. */
  private int dropLost(List<Held> kept, Set<UUID> renewed) {
    int lost = 0;
    for (Held entry : kept) {
      Operation operation = entry.operation();
      Claim claim = operation.claim();
      if (!renewed.contains(claim.operationId()) && !operation.isSettling() && holds(claim)) {
        lost++;
        drop(claim);
        operation.leaseLost();
      }
    }
    return lost;
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
    for (Held entry : of(claim.request().key())) {
      if (entry.claim() == claim) {
        return true;
      }
    }
    return false;
  }

  private List<Held> of(IdempotencyKey key) {
    return held.getOrDefault(key, List.of());
  }

  private Stream<Held> all() {
    return held.values().stream().flatMap(List::stream);
  }

  private static List<Held> without(Claim claim, List<Held> entries) {
    List<Held> others = new ArrayList<>();
    for (Held entry : entries) {
      if (entry.claim() != claim) {
        others.add(entry);
      }
    }
    return others;
  }
}
