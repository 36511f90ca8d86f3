package io.github.grpcidempotency.postgres.internal.claim;

import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ResourceIdType;
import java.time.Instant;
import java.util.UUID;

/** A claim and what identifies it. */
public abstract class PostgresClaim implements Claim {
  private final ClaimRequest request;
  private final UUID operationId;
  private final int attempt;
  private final Instant expires;
  private final ResourceIdType resourceIdType;

  protected PostgresClaim(
      ClaimRequest request,
      UUID operationId,
      int attempt,
      Instant expires,
      ResourceIdType resourceIdType) {
    this.request = request;
    this.operationId = operationId;
    this.attempt = attempt;
    this.expires = expires;
    this.resourceIdType = resourceIdType;
  }

  @Override
  public final ClaimRequest request() {
    return request;
  }

  @Override
  public final UUID operationId() {
    return operationId;
  }

  @Override
  public final int attempt() {
    return attempt;
  }

  @Override
  public Instant expires() {
    return expires;
  }

  @Override
  public final ResourceIdType resourceIdType() {
    return resourceIdType;
  }
}
