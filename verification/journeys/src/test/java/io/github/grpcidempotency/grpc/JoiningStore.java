package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.handler.CurrentHandler;
import io.github.grpcidempotency.thing.ForwardingClaim;
import io.github.grpcidempotency.thing.ForwardingStore;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

/** A store whose reservations are completed by transactions of their handlers. */
final class JoiningStore extends ForwardingStore {
  private final AtomicInteger renewals = new AtomicInteger();

  JoiningStore(IdempotencyStore store) {
    super(store);
  }

  /** Lets the current call be recorded by a transaction that its handler has open. */
  static JoinedClaim join() {
    JoinedClaim claim = current();
    claim.open = true;
    return claim;
  }

  /** Returns the claim of the current call. */
  static JoinedClaim current() {
    return (JoinedClaim) CurrentHandler.claim().orElseThrow();
  }

  int renewals() {
    return renewals.get();
  }

  @Override
  public ClaimResult claim(ClaimRequest request) {
    ClaimResult result = super.claim(request);
    return result instanceof ClaimResult.Won won
        ? new ClaimResult.Won(new JoinedClaim(won.claim()))
        : result;
  }

  @Override
  public Set<UUID> renew(Collection<Claim> claims) {
    Set<UUID> renewed = super.renew(claims);
    renewals.addAndGet(renewed.size());
    return renewed;
  }

  /** A reservation. */
  static final class JoinedClaim extends ForwardingClaim {
    private final List<Runnable> settlements = new ArrayList<>();
    private Optional<Settled> ended = Optional.empty();
    private boolean open;

    private JoinedClaim(Claim claim) {
      super(claim);
    }

    /** Ends the handler's transaction. */
    void end(Settled how) {
      List<Runnable> deferred;
      synchronized (this) {
        open = false;
        ended = Optional.of(how);
        deferred = List.copyOf(settlements);
      }
      deferred.forEach(Runnable::run);
    }

    @Override
    public synchronized boolean deferSettlement(Runnable settlement) {
      return open && settlements.add(settlement);
    }

    @Override
    public synchronized Settled complete(RecordedOutcome outcome) {
      if (open) {
        throw new IllegalStateException("settled before its transaction has ended");
      }
      return ended.filter(how -> how != Settled.DONE).orElseGet(() -> super.complete(outcome));
    }

    @Override
    public synchronized Settled release() {
      if (open) {
        throw new IllegalStateException("released before its transaction has ended");
      }
      return super.release();
    }
  }
}
