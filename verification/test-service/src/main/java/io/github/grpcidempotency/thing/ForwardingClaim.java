package io.github.grpcidempotency.thing;

import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.ResourceIdType;
import io.github.grpcidempotency.spi.StoreTransaction;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/** A claim that forwards to another one, except for what a test overrides. */
public abstract class ForwardingClaim implements Claim {
  private final Claim claim;

  protected ForwardingClaim(Claim claim) {
    this.claim = claim;
  }

  /** Returns the other claim, for a store that knows only its own claims. */
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
  public Optional<String> takenOverFrom() {
    return claim.takenOverFrom();
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
  public ResourceIdType resourceIdType() {
    return claim.resourceIdType();
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
