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
import io.github.grpcidempotency.store.PendingClaim;
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
 * duplicates in this process learn of it here, without a connection; before that, they query the
 * store.
 *
 * <p>Thread-safe. One daemon thread, which runs until it is closed.
 */
final class LeaseKeeper implements AutoCloseable {
  private final IdempotencyStore store;
  private final Listeners listeners;
  private final Optional<String> shard;
  private final ScheduledExecutorService timer;

  /** A key has more than one entry if a call was suspended for longer than its lease. */
  private final Map<IdempotencyKey, List<Held>> held = new ConcurrentHashMap<>();

  private volatile Consumer<IdempotencyKey> dropped = key -> {};

  /** An operation, or a claim that is not confirmed and has no lease yet. */
  private sealed interface Held {
    ClaimRequest request();

    boolean isWon();
  }

  private record Won(Operation operation) implements Held {
    Claim claim() {
      return operation.claim();
    }

    @Override
    public ClaimRequest request() {
      return claim().request();
    }

    @Override
    public boolean isWon() {
      return true;
    }
  }

  private record Pending(PendingClaim claim) implements Held {
    @Override
    public ClaimRequest request() {
      return claim.request();
    }

    @Override
    public boolean isWon() {
      return claim.isWon();
    }
  }

  /**
   * Creates the keeper of a store's leases.
   *
   * @param shard the name of the store, if it is one of several shards
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
    replace(operation.claim().request().key(), isOf(operation.claim()), new Won(operation));
  }

  /** Notes that a claim is about to be sent with its handler's first statement. */
  void track(PendingClaim pending) {
    replace(pending.request().key(), isOf(pending), new Pending(pending));
  }

  /** Renews the lease of a claim that was confirmed, or drops it if it was not won. */
  void confirmed(PendingClaim pending, Optional<Operation> won) {
    if (won.isPresent()) {
      replace(pending.request().key(), isOf(pending), new Won(won.get()));
    } else {
      drop(pending.request().key(), isOf(pending));
    }
  }

  /** Stops renewing a claim's lease. */
  public void drop(Claim claim) {
    drop(claim.request().key(), isOf(claim));
  }

  private void drop(IdempotencyKey key, Predicate<Held> which) {
    boolean wasHeld = of(key).stream().anyMatch(which);
    held.computeIfPresent(
        key,
        (sameKey, before) -> {
          List<Held> left = without(which, before);
          return left.isEmpty() ? null : left;
        });
    if (wasHeld) {
      dropped.accept(key);
    }
  }

  private void replace(IdempotencyKey key, Predicate<Held> which, Held entry) {
    held.compute(
        key,
        (sameKey, before) -> {
          List<Held> now = without(which, before == null ? List.of() : before);
          now.add(entry);
          return now;
        });
  }

  private static Predicate<Held> isOf(Claim claim) {
    return entry -> entry instanceof Won won && won.claim() == claim;
  }

  private static Predicate<Held> isOf(PendingClaim claim) {
    return entry -> entry instanceof Pending pending && pending.claim() == claim;
  }

  /** Sets the listener for keys that this process no longer holds; it must not block. */
  void onDrop(Consumer<IdempotencyKey> listener) {
    dropped = listener;
  }

  /** Returns the call of this process that owns a key, as far as this process knows. */
  public Optional<ClaimResult.InFlight> inFlight(IdempotencyKey key) {
    for (Held entry : of(key)) {
      if (entry.isWon()) {
        return Optional.of(inFlight(entry));
      }
    }
    return Optional.empty();
  }

  /** Returns whether a call of this process owns a key, or has sent a claim for it. */
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
    List<Operation> kept =
        all().filter(Won.class::isInstance).map(Won.class::cast).map(Won::operation).toList();
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
      listeners.notify(new IdempotencyEvent.RenewalFailed(kept.size(), failure, shard));
      throw failure;
    }
    Duration took = Duration.ofNanos(System.nanoTime() - begun);
    int lost = dropLost(kept, renewed);
    listeners.notify(new IdempotencyEvent.LeasesRenewed(kept.size(), lost, took, shard));
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
  private ClaimResult.InFlight inFlight(Held entry) {
    return new ClaimResult.InFlight(
        Optional.of(entry.request().fingerprint()),
        Optional.of(entry.request().procedure().name()),
        entry instanceof Won won && won.claim().transaction().isEmpty()
            ? Optional.of(won.claim().operationId())
            : Optional.empty(),
        Optional.of(store.lease()),
        false);
  }

  private boolean holds(Claim claim) {
    return of(claim.request().key()).stream().anyMatch(isOf(claim));
  }

  private List<Held> of(IdempotencyKey key) {
    return held.getOrDefault(key, List.of());
  }

  private Stream<Held> all() {
    return held.values().stream().flatMap(List::stream);
  }

  private static List<Held> without(Predicate<Held> which, List<Held> entries) {
    List<Held> others = new ArrayList<>(entries);
    others.removeIf(which);
    return others;
  }
}
