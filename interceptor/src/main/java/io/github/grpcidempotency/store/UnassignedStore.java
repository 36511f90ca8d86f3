package io.github.grpcidempotency.store;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.IdempotencyStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * The store of callers without a shard. It refuses every call, with an error that can be retried.
 * Thread-safe.
 */
final class UnassignedStore implements TransactionalStore, OperationStore, OperationCatalog {
  private final Duration lease;

  UnassignedStore(Duration lease) {
    this.lease = lease;
  }

  private static StoreException refused() {
    return new StoreException(
        "the caller has no shard", null, FailurePhase.NOTHING_SENT, FailureCause.NO_SHARD);
  }

  @Override
  public void verify(Collection<RecordedProcedure> procedures) {}

  @Override
  public void verifyTransactions() {}

  @Override
  public void verifyLateClaims() {}

  @Override
  public ClaimResult claim(ClaimRequest request) {
    throw refused();
  }

  @Override
  public ClaimResult claimInTransaction(ClaimRequest request) {
    throw refused();
  }

  @Override
  public PendingClaim claimLater(ClaimRequest request) {
    throw refused();
  }

  @Override
  public StoreTransaction begin(Optional<Caller> caller) {
    throw refused();
  }

  @Override
  public Optional<ClaimResult> find(IdempotencyKey key, RecordedProcedure procedure) {
    throw refused();
  }

  @Override
  public Instant retain(ClaimRequest request, ClaimResult.Recorded recorded) {
    throw refused();
  }

  /**
   * Returns all claims as owned, because the claims of a caller without a shard may still be valid.
   */
  @Override
  public Set<UUID> renew(Collection<Claim> claims) {
    throw refused();
  }

  @Override
  public CompletionWatch watch(Consumer<IdempotencyKey> ended) {
    return new CompletionWatch() {
      @Override
      public void add(IdempotencyKey key) {}

      @Override
      public void remove(IdempotencyKey key) {}

      @Override
      public void close() {}
    };
  }

  @Override
  public Duration lease() {
    return lease;
  }

  @Override
  public OperationCatalog operations(Collection<RecordedProcedure> procedures) {
    return this;
  }

  @Override
  public List<StoredOperation> find(Caller caller, Collection<UUID> operationIds) {
    throw refused();
  }

  @Override
  public List<StoredOperation> list(
      Caller caller, Set<String> procedures, Optional<UUID> before, int limit) {
    throw refused();
  }

  @Override
  public boolean forget(Caller caller, UUID operationId) {
    throw refused();
  }

  @Override
  public Map<OwnedResource, IdempotencyStatus> statuses(
      RecordedProcedure procedure, Collection<OwnedResource> resources) {
    throw refused();
  }
}
