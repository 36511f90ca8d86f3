package io.github.grpcidempotency.internal.settling;

import com.google.common.collect.LinkedHashMultimap;
import com.google.common.collect.Multimaps;
import com.google.common.collect.SetMultimap;
import io.github.grpcidempotency.background.DaemonThreads;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.background.RepeatedTask;
import io.github.grpcidempotency.background.RepeatedWhile;
import io.github.grpcidempotency.internal.event.Events;
import io.github.grpcidempotency.internal.event.Listeners;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.IdempotencyStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/**
 * Renews the leases of this process's running calls three times per lease, all in one statement. A
 * slow handler therefore keeps its key, and the keys of a crashed process are free within one
 * lease.
 *
 * <p>A renewal must not wait for a locked row, and the thread that renews does nothing else: if one
 * call blocked it, the leases of all other calls would end.
 *
 * <p>Thread-safe. One daemon thread while there are operations. There is nothing to close: a
 * handler that still runs when its interceptor is closed keeps its key.
 */
public final class LeaseKeeper {
  private final IdempotencyStore store;
  private final Listeners listeners;
  private final Optional<String> shard;
  private final RepeatedWhile renewal;

  /** A key has more than one operation if a call was suspended for longer than its lease. */
  private final SetMultimap<IdempotencyKey, OwnedClaim> running =
      Multimaps.synchronizedSetMultimap(LinkedHashMultimap.create());

  private volatile Consumer<IdempotencyKey> dropped = key -> {};

  public LeaseKeeper(IdempotencyStore store, Listeners listeners, Optional<String> shard) {
    this(
        store,
        listeners,
        shard,
        DaemonThreads.newIdleTimer("idempotency-lease"),
        RateLimitedLog.of(LoggerFactory.getLogger(LeaseKeeper.class)));
  }

  public LeaseKeeper(
      IdempotencyStore store,
      Listeners listeners,
      Optional<String> shard,
      ScheduledExecutorService timer,
      RateLimitedLog log) {
    this.shard = shard;
    this.store = store;
    this.listeners = listeners;
    String task = "renew idempotency leases" + shard.map(name -> " of shard " + name).orElse("");
    this.renewal =
        new RepeatedWhile(
            timer,
            store.lease().dividedBy(3),
            RepeatedTask.of(task, log, this::renew),
            () -> !running.isEmpty());
  }

  /** Renews an operation's lease until its claim is dropped. */
  public void track(OwnedClaim operation) {
    running.put(operation.claim().request().key(), operation);
    renewal.start();
  }

  /** Stops renewing the lease of a claim. Returns whether it was renewed. */
  public boolean drop(Claim claim) {
    IdempotencyKey key = claim.request().key();
    boolean held;
    synchronized (running) {
      held = running.get(key).removeIf(operation -> operation.claim() == claim);
    }
    if (held) {
      dropped.accept(key);
    }
    return held;
  }

  /** Sets the listener for keys that this process no longer holds; it must not block. */
  public void onDrop(Consumer<IdempotencyKey> listener) {
    dropped = listener;
  }

  /** Returns the call of this process that owns a key, as far as this process knows. */
  public Optional<ClaimResult.InFlight> inFlight(IdempotencyKey key) {
    Optional<OwnedClaim> own;
    synchronized (running) {
      own = running.get(key).stream().findFirst();
    }
    own.ifPresent(OwnedClaim::retried);
    return own.map(OwnedClaim::claim).map(this::inFlight);
  }

  /** Returns how many leases this process holds. Does not block. */
  public int count() {
    return running.size();
  }

  private void renew() {
    List<OwnedClaim> kept;
    synchronized (running) {
      kept = List.copyOf(running.values());
    }
    if (!kept.isEmpty()) {
      renew(kept);
    }
  }

  private void renew(List<OwnedClaim> kept) {
    long begun = System.nanoTime();
    Set<UUID> renewed;
    try {
      renewed = store.renew(kept.stream().map(OwnedClaim::claim).toList());
    } catch (Throwable failure) {
      listeners.emit(Events.renewalFailed(kept.size(), failure, shard));
      throw failure;
    }
    Duration took = Duration.ofNanos(System.nanoTime() - begun);
    int lost = dropLost(kept, renewed);
    listeners.emit(Events.leasesRenewed(kept.size(), lost, took, shard));
  }

  /** Drops operations that have another owner now, and returns how many there were. */
  private int dropLost(List<OwnedClaim> kept, Set<UUID> renewed) {
    int lost = 0;
    for (OwnedClaim operation : kept) {
      Claim claim = operation.claim();
      if (!renewed.contains(claim.operationId()) && !operation.settling && drop(claim)) {
        lost++;
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

  /**
   * A claim that is optimistic may belong to another request than the record that decides, so its
   * request is left out: its duplicates wait, and are then decided by the record.
   */
  private ClaimResult.InFlight inFlight(Claim claim) {
    Optional<ClaimRequest> request =
        Optional.of(claim.request()).filter(known -> !claim.isOptimistic());
    return new ClaimResult.InFlight(
        request.map(ClaimRequest::fingerprint),
        request.map(own -> own.procedure().name()),
        idOf(claim),
        Optional.of(store.lease()),
        false);
  }
}
