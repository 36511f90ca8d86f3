package io.github.grpcidempotency.grpc;

import static io.github.grpcidempotency.store.FailureCause.NO_CONNECTION;
import static io.github.grpcidempotency.store.FailurePhase.HANDLER_DONE;

import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.CompletionWatch;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.FailurePhase;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.RecordedProcedure;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.thing.ForwardingClaim;
import io.grpc.Context;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** A store that a test can cut off, and that counts its calls. */
final class UnreliableStore implements IdempotencyStore {
  private final IdempotencyStore store;
  private final AtomicInteger claims = new AtomicInteger();
  private final AtomicInteger looks = new AtomicInteger();
  private final Set<String> claimingThreads = ConcurrentHashMap.newKeySet();
  private final AtomicInteger renewals = new AtomicInteger();
  private final AtomicInteger settlements = new AtomicInteger();
  private final AtomicInteger settledInCancelledContext = new AtomicInteger();
  private volatile Optional<RuntimeException> verifyFailure = Optional.empty();
  private volatile Optional<RuntimeException> claimFailure = Optional.empty();
  private volatile Optional<RuntimeException> settleFailure = Optional.empty();
  private volatile boolean settlesBeforeItFails;
  private final AtomicInteger errors = new AtomicInteger();
  private volatile Optional<RuntimeException> retainFailure = Optional.empty();
  private volatile boolean claimError;
  private volatile boolean settleError;
  private volatile Runnable beforeClaim = () -> {};

  UnreliableStore(IdempotencyStore store) {
    this.store = store;
  }

  /** Lets every claim fail from now on. */
  void failClaims(FailurePhase phase, FailureCause cause) {
    claimFailure = Optional.of(new StoreException("cut off", null, phase, cause));
  }

  /** Runs something at the beginning of every claim from now on. */
  void beforeClaims(Runnable first) {
    beforeClaim = first;
  }

  /** Lets no retention be extended from now on. */
  void failRetention() {
    retainFailure = Optional.of(new StoreException("cut off", null));
  }

  /** Lets every settlement fail from now on, before it is done. */
  void failSettlements() {
    settleFailure = Optional.of(new StoreException("cut off", null, HANDLER_DONE, NO_CONNECTION));
  }

  /** Lets every settlement be done from now on, and its answer be lost. */
  void loseAnswersOfSettlements() {
    settlesBeforeItFails = true;
    failSettlements();
  }

  /** Lets every settlement fail from now on in a way that no store should. */
  void breakSettlements() {
    settleFailure = Optional.of(new UnsupportedOperationException("a defect of the store"));
  }

  /** Lets every settlement fail from now on as a defect does that looks like a misuse. */
  void failSettlementsInAnIllegalState() {
    settleFailure = Optional.of(new IllegalStateException("pool is shut down"));
  }

  /** Makes every claim and renewal throw an unexpected exception. */
  void throwErrorsAtClaims() {
    claimError = true;
  }

  /** Makes every settlement throw an unexpected exception. */
  void throwErrorsAtSettlements() {
    settleError = true;
  }

  /** Lets the check at start-up find a problem. */
  void refuseProcedures(String problem) {
    verifyFailure = Optional.of(new IllegalStateException(problem));
  }

  void recover() {
    claimFailure = Optional.empty();
    settleFailure = Optional.empty();
    claimError = false;
    settleError = false;
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
  public void verify(Collection<RecordedProcedure> procedures) {
    throwIf(verifyFailure);
    store.verify(procedures);
  }

  @Override
  public ClaimResult claim(ClaimRequest request) {
    claims.incrementAndGet();
    claimingThreads.add(Thread.currentThread().getName());
    beforeClaim.run();
    throwErrorIf(claimError);
    throwIf(claimFailure);
    ClaimResult result = store.claim(request);
    return result instanceof ClaimResult.Won won
        ? new ClaimResult.Won(new UnreliableClaim(won.claim()))
        : result;
  }

  @Override
  public Optional<ClaimResult> find(IdempotencyKey key, RecordedProcedure procedure) {
    looks.incrementAndGet();
    throwErrorIf(claimError);
    throwIf(claimFailure);
    return store.find(key, procedure);
  }

  @Override
  public Instant retain(ClaimRequest request, ClaimResult.Recorded recorded) {
    throwIf(retainFailure);
    return store.retain(request, recorded);
  }

  @Override
  public Set<UUID> renew(Collection<Claim> claims) {
    throwErrorIf(claimError);
    throwIf(claimFailure);
    Set<UUID> renewed =
        store.renew(claims.stream().map(claim -> ((UnreliableClaim) claim).forwardedTo()).toList());
    renewals.incrementAndGet();
    return renewed;
  }

  @Override
  public CompletionWatch watch(Consumer<IdempotencyKey> ended) {
    return store.watch(ended);
  }

  @Override
  public Duration lease() {
    return store.lease();
  }

  private static void throwIf(Optional<RuntimeException> failure) {
    if (failure.isPresent()) {
      throw failure.get();
    }
  }

  private void throwErrorIf(boolean half) {
    if (half) {
      errors.incrementAndGet();
      throw new NoClassDefFoundError("the store is half there");
    }
  }

  private final class UnreliableClaim extends ForwardingClaim {
    UnreliableClaim(Claim claim) {
      super(claim);
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
      throwErrorIf(settleError);
      if (Context.current().isCancelled()) {
        settledInCancelledContext.incrementAndGet();
      }
      Optional<RuntimeException> failure = settleFailure;
      if (failure.isPresent() && !settlesBeforeItFails) {
        throw failure.get();
      }
      Settled settled = settlement.get();
      throwIf(failure);
      return settled;
    }
  }
}
