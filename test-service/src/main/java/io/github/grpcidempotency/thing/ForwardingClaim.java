package io.github.grpcidempotency.thing;

import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.StoreTransaction;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/** A claim that does what another one does, but for what a test overrides. */
public abstract class ForwardingClaim implements Claim {
  private final Claim claim;

  protected ForwardingClaim(Claim claim) {
    this.claim = claim;
  }

  /** Returns the other one, for a store that knows its own claims only. */
  public Claim forwardedTo() {
    return claim;
  }

  @Override
  public ClaimRequest request() {
    return claim.request();
  }

  @Override
  public int attempt() {
    return claim.attempt();
  }

  @Override
  public UUID operationId() {
    return claim.operationId();
  }

  @Override
  public Instant expires() {
    return claim.expires();
  }

  @Override
  public Optional<StoreTransaction> transaction() {
    return claim.transaction();
  }

  @Override
  public Settled complete(RecordedOutcome outcome) {
    return claim.complete(outcome);
  }

  @Override
  public Settled release() {
    return claim.release();
  }

  @Override
  public Settled markUnknown() {
    return claim.markUnknown();
  }
}
