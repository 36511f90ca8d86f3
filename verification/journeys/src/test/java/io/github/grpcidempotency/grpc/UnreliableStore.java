package io.github.grpcidempotency.grpc;

import static io.github.grpcidempotency.spi.FailurePhase.HANDLER_DONE;
import static io.github.grpcidempotency.store.FailureCause.NO_CONNECTION;

import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.spi.StoreTransaction;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.thing.ForwardingClaim;
import io.github.grpcidempotency.thing.ForwardingStore;
import io.grpc.Context;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** A store that a test can cut off, and that counts its calls. */
final class UnreliableStore extends ForwardingStore {
  private final AtomicInteger claims = new AtomicInteger();
  private final AtomicInteger looks = new AtomicInteger();
  private final Set<String> claimingThreads = ConcurrentHashMap.newKeySet();
  private final AtomicInteger renewals = new AtomicInteger();
  private final AtomicInteger settlements = new AtomicInteger();
  private final AtomicInteger settledInCancelledContext = new AtomicInteger();
  private final AtomicInteger errors = new AtomicInteger();
  private volatile Runnable retain = UnreliableStore::nothing;
  private volatile Runnable beforeClaim = UnreliableStore::nothing;
  private volatile Runnable beforeLook = () -> beforeClaim.run();
  private volatile Runnable besideSettlement = UnreliableStore::nothing;
  private volatile Runnable beforeSettlement = UnreliableStore::nothing;
  private volatile Runnable afterSettlement = UnreliableStore::nothing;

  UnreliableStore(IdempotencyStore store) {
    super(store);
  }

  /** Lets every claim, look and renewal fail from now on. */
  void failClaims(FailurePhase phase, FailureCause cause) {
    beforeClaim = throwing(() -> StoreException.of(phase, cause, "cut off"));
  }

  /** Lets every claim fail from now on, but no look. */
  void failClaimsOnly(FailurePhase phase, FailureCause cause) {
    beforeLook = UnreliableStore::nothing;
    failClaims(phase, cause);
  }

  /** Runs something at the beginning of the claims from now on, before they fail. */
  void beforeClaims(Runnable first) {
    Runnable then = beforeClaim;
    beforeClaim =
        () -> {
          first.run();
          then.run();
        };
  }

  /** Lets no retention be extended from now on. */
  void failRetention() {
    retain = throwing(UnreliableStore::cutOff);
  }

  /** Lets every settlement fail from now on, before it is done. */
  void failSettlements() {
    beforeSettlement = throwing(UnreliableStore::cutOff);
  }

  /** Lets every settlement be done from now on, and its answer be lost. */
  void loseAnswersOfSettlements() {
    afterSettlement = throwing(UnreliableStore::cutOff);
  }

  /** Lets every settlement fail from now on as a defect does that looks like a misuse. */
  void failSettlementsInAnIllegalState() {
    beforeSettlement = throwing(() -> new IllegalStateException("pool is shut down"));
  }

  /** Makes every claim and renewal throw an unexpected exception. */
  void throwErrorsAtClaims() {
    beforeClaim = this::throwError;
  }

  /** Makes every settlement throw an unexpected exception. */
  void throwErrorsAtSettlements() {
    beforeSettlement = this::throwError;
  }

  /** Makes every claim throw an unexpected error when it is asked for its transaction again. */
  void throwErrorsBesideSettlements() {
    besideSettlement = this::throwError;
  }

  void recover() {
    besideSettlement = UnreliableStore::nothing;
    beforeClaim = UnreliableStore::nothing;
    beforeSettlement = UnreliableStore::nothing;
    afterSettlement = UnreliableStore::nothing;
  }

  private static StoreException cutOff() {
    return StoreException.of(HANDLER_DONE, NO_CONNECTION, "cut off");
  }

  private static void nothing() {}

  private static Runnable throwing(Supplier<RuntimeException> failure) {
    return () -> {
      throw failure.get();
    };
  }

  private void throwError() {
    errors.incrementAndGet();
    throw new NoClassDefFoundError("the store is half there");
  }

  int claims() {
    return claims.get();
  }

  int looks() {
    return looks.get();
  }

  /** Returns the names of the threads that have claimed. */
  Set<String> claimingThreads() {
    return claimingThreads;
  }

  int renewals() {
    return renewals.get();
  }

  int settlements() {
    return settlements.get();
  }

  int errors() {
    return errors.get();
  }

  int settledInCancelledContext() {
    return settledInCancelledContext.get();
  }

  @Override
  public ClaimResult claim(ClaimRequest request) {
    claims.incrementAndGet();
    claimingThreads.add(Thread.currentThread().getName());
    beforeClaim.run();
    ClaimResult result = super.claim(request);
    return result instanceof ClaimResult.Won won
        ? new ClaimResult.Won(new UnreliableClaim(won.claim()))
        : result;
  }

  @Override
  public Optional<ClaimResult> find(IdempotencyKey key, RecordedProcedure procedure) {
    looks.incrementAndGet();
    beforeLook.run();
    return super.find(key, procedure);
  }

  @Override
  public Instant retain(ClaimRequest request, ClaimResult.Recorded recorded) {
    retain.run();
    return super.retain(request, recorded);
  }

  @Override
  public Set<UUID> renew(Collection<Claim> claims) {
    beforeClaim.run();
    Set<UUID> renewed = super.renew(claims);
    renewals.incrementAndGet();
    return renewed;
  }

  private final class UnreliableClaim extends ForwardingClaim {
    /** Its handler has its transaction, or knows that there is none. */
    private final AtomicBoolean handled = new AtomicBoolean();

    UnreliableClaim(Claim claim) {
      super(claim);
    }

    @Override
    public Optional<StoreTransaction> transaction() {
      if (handled.getAndSet(true)) {
        besideSettlement.run();
      }
      return super.transaction();
    }

    @Override
    public Settled complete(RecordedOutcome outcome) {
      return settle(() -> super.complete(outcome));
    }

    @Override
    public Settled release() {
      return settle(super::release);
    }

    @Override
    public Settled markUnknown() {
      return settle(super::markUnknown);
    }

    private Settled settle(Supplier<Settled> settlement) {
      settlements.incrementAndGet();
      beforeSettlement.run();
      if (Context.current().isCancelled()) {
        settledInCancelledContext.incrementAndGet();
      }
      Settled settled = settlement.get();
      afterSettlement.run();
      return settled;
    }
  }
}
