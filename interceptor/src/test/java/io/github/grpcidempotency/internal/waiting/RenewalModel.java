package io.github.grpcidempotency.internal.waiting;

import io.github.grpcidempotency.internal.settling.LeaseKeeper;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimResult;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.BooleanGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;

/**
 * Calls of one process that win a key one after the other, lose its lease, and end, while leases
 * are renewed. In the end, only a call that owns the key is held.
 */
public class RenewalModel {
  private final ModelStore store = new ModelStore();
  private final ManualThreads renewals = new ManualThreads();
  private final LeaseKeeper leases = ModelStore.keeperOf(store, renewals);
  private final AtomicInteger calls = new AtomicInteger();

  /** Claims whose calls do not run yet. */
  private final Deque<Claim> winners = new ConcurrentLinkedDeque<>();

  /** Calls that run, by the version of their fingerprint. */
  private final Map<Integer, Claim> running = new ConcurrentHashMap<>();

  /** A call comes, and wins the key if it is free. */
  @Operation
  public void come() {
    if (store.claim(ModelStore.request(calls.incrementAndGet()).claimRequest())
        instanceof ClaimResult.Won won) {
      winners.add(won.claim());
    }
  }

  /**
   * A call that has won begins to run: the first or, for others may have been stopped, the last.
   */
  @Operation
  public void begin(@Param(gen = BooleanGen.class) boolean first) {
    Claim winner = first ? winners.pollFirst() : winners.pollLast();
    if (winner != null) {
      leases.track(ModelStore.operation(leases, winner));
      running.put(winner.request().fingerprint().version(), winner);
    }
  }

  /** A call that runs ends, its lease lost or not. */
  @Operation
  public void end() {
    for (Map.Entry<Integer, Claim> call : List.copyOf(running.entrySet())) {
      if (running.remove(call.getKey(), call.getValue())) {
        Claim.Settled unused = call.getValue().release();
        leases.drop(call.getValue());
        checkNotHeld(call.getKey());
        return;
      }
    }
  }

  /** The lease of the key's owner ends. */
  @Operation
  public void expire() {
    store.expire();
  }

  /** Leases are renewed. */
  @Operation
  public void renew() {
    renewals.elapse();
  }

  /** Checks the end. */
  @Validate
  public void ownersAreHeldAndNobodyElse() {
    while (!winners.isEmpty()) {
      begin(true);
    }
    renewals.elapse();
    Optional<Integer> held = held();
    Optional<Claim> owner = store.owner();
    if (!owner.equals(held.map(running::get))) {
      throw new IllegalStateException("held is call " + held + ", and not the owner");
    }
    List.copyOf(running.values()).forEach(leases::drop);
    if (held().isPresent()) {
      throw new IllegalStateException("a key is held whose calls have all ended");
    }
  }

  private void checkNotHeld(int ended) {
    if (held().filter(call -> call == ended).isPresent()) {
      throw new IllegalStateException("a key is held for a call that was dropped");
    }
  }

  private Optional<Integer> held() {
    return leases
        .inFlight(ModelStore.KEY)
        .map(standing -> standing.fingerprint().orElseThrow().version());
  }
}
