package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.postgres.internal.transaction.HandlerTransaction;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.PendingClaim;
import java.sql.Connection;

/** What the handlers of claims are given. */
final class LateClaims {
  private LateClaims() {}

  static Connection connection(Claim claim) {
    return transaction(claim).guardedConnection();
  }

  static Connection connection(PendingClaim claim) {
    return transaction(claim).guardedConnection();
  }

  static HandlerTransaction transaction(PendingClaim claim) {
    return (HandlerTransaction) claim.transaction();
  }

  static HandlerTransaction transaction(Claim claim) {
    return (HandlerTransaction) claim.transaction().orElseThrow();
  }
}
