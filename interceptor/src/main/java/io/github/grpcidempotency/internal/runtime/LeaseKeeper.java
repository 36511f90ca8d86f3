package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.internal.event.Listeners;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.PendingClaim;
import io.github.grpcidempotency.store.support.DaemonThreads;
import io.github.grpcidempotency.store.support.RateLimitedLog;
import io.github.grpcidempotency.store.support.RepeatedTask;
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
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;

/**
 * Renews the leases of this process's running calls three times per lease, all in one statement. A
 * slow handler therefore keeps its key, and the keys of a crashed process are free within one
 * lease.
 *
 * <p>A renewal must not wait for a locked row, and the thread that renews does nothing else: if one
 * call blocked it, the leases of all other calls would end.
 *
 * <p>An operation whose claim is not confirmed has no lease yet. Once its claim is won, its
 * duplicates in this process are refused or wait here, without a connection; before that, they
 * query the store.
 *
 * <p>Thread-safe. One daemon thread, which runs until it is closed.
 */
final class LeaseKeeper implements AutoCloseable {
  private final IdempotencyStore store;
  private final Listeners listeners;
  private final Optional<String> shard;
  private final ScheduledExecutorService timer;

  /** A key has more than one operation if a call was suspended for longer than its lease. */
  private final Map<IdempotencyKey, List<Operation>> running = new ConcurrentHashMap<>();

  private final Map<IdempotencyKey, List<PendingClaim>> pending = new ConcurrentHashMap<>();

  private volatile Consumer<IdempotencyKey> dropped = key -> {};

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
    add(running, operation.claim().request().key(), operation);
  }

  /** Notes that a claim is about to be sent with its handler's first statement. */
  void track(PendingClaim claim) {
    add(pending, claim.request().key(), claim);
  }

  /** Renews the lease of a claim that was confirmed, or drops it if it was not won. */
  void confirmed(PendingClaim claim, Optional<Operation> won) {
    won.ifPresent(this::track);
    IdempotencyKey key = claim.request().key();
    if (remove(pending, key, other -> other == claim) && won.isEmpty()) {
      dropped.accept(key);
    }
  }

  public void drop(Claim claim) {
    IdempotencyKey key = claim.request().key();
    if (remove(running, key, operation -> operation.claim() == claim)) {
      dropped.accept(key);
    }
  }

  private static <T> void add(Map<IdempotencyKey, List<T>> to, IdempotencyKey key, T entry) {
    to.compute(
        key,
        (same, before) -> {
          List<T> now = new ArrayList<>(before == null ? List.of() : before);
          now.removeIf(other -> other == entry);
          now.add(entry);
          return now;
        });
  }

  /** Removes the entries of a key that match. Returns whether there were any. */
  private static <T> boolean remove(
      Map<IdempotencyKey, List<T>> from, IdempotencyKey key, Predicate<T> which) {
    boolean present = of(from, key).stream().anyMatch(which);
    from.computeIfPresent(
        key,
        (same, before) -> {
          List<T> left = before.stream().filter(which.negate()).toList();
          return left.isEmpty() ? null : left;
        });
    return present;
  }

  /** Sets the listener for keys that this process no longer holds; it must not block. */
  void onDrop(Consumer<IdempotencyKey> listener) {
    dropped = listener;
  }

  /** Returns the call of this process that owns a key, as far as this process knows. */
  public Optional<ClaimResult.InFlight> inFlight(IdempotencyKey key) {
    Optional<Operation> own = of(running, key).stream().findFirst();
    return own.isPresent()
        ? own.map(operation -> inFlight(operation.claim().request(), idOf(operation.claim())))
        : of(pending, key).stream()
            .filter(PendingClaim::isWon)
            .findFirst()
            .map(claim -> inFlight(claim.request(), Optional.empty()));
  }

  /** Returns whether a call of this process owns a key, or has sent a claim for it. */
  boolean isTried(IdempotencyKey key) {
    return running.containsKey(key) || pending.containsKey(key);
  }

  /** Returns how many leases this process holds, or is about to claim. Does not block. */
  int count() {
    return (int) (all(running).count() + all(pending).count());
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }

  private void renew() {
    List<Operation> kept = all(running).toList();
    if (!kept.isEmpty()) {
      renew(kept);
    }
  }

  private void renew(List<Operation> kept) {
    long begun = System.nanoTime();
    Set<UUID> renewed;
    try {
      renewed = store.renew(kept.stream().map(Operation::claim).toList());
    } catch (Throwable failure) {
      listeners.notify(
          IdempotencyListener::renewalFailed,
          new IdempotencyEvent.RenewalFailed(kept.size(), failure, shard));
      throw failure;
    }
    Duration took = Duration.ofNanos(System.nanoTime() - begun);
    int lost = dropLost(kept, renewed);
    listeners.notify(
        IdempotencyListener::leasesRenewed,
        new IdempotencyEvent.LeasesRenewed(kept.size(), lost, took, shard));
  }

  /** Drops operations that have another owner now, and returns how many there were. */
  private int dropLost(List<Operation> kept, Set<UUID> renewed) {
    int lost = 0;
    for (Operation operation : kept) {
      Claim claim = operation.claim();
      if (!renewed.contains(claim.operationId()) && !operation.isSettling() && holds(claim)) {
        lost++;
        drop(claim);
        operation.leaseLost();
      }
    }
    return lost;
  }

  /**
   * Leaves out the id of a transactional operation, which cannot be found before it is recorded.
   */
  private static Optional<UUID> idOf(Claim claim) {
    return claim.transaction().isPresent() ? Optional.empty() : Optional.of(claim.operationId());
  }

  private ClaimResult.InFlight inFlight(ClaimRequest request, Optional<UUID> operationId) {
    return new ClaimResult.InFlight(
        Optional.of(request.fingerprint()),
        Optional.of(request.procedure().name()),
        operationId,
        Optional.of(store.lease()),
        false);
  }

  private boolean holds(Claim claim) {
    return of(running, claim.request().key()).stream()
        .anyMatch(operation -> operation.claim() == claim);
  }

  private static <T> List<T> of(Map<IdempotencyKey, List<T>> entries, IdempotencyKey key) {
    return entries.getOrDefault(key, List.of());
  }

  private static <T> Stream<T> all(Map<IdempotencyKey, List<T>> entries) {
    return entries.values().stream().flatMap(List::stream);
  }
}
