package io.github.grpcidempotency.postgres;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.internal.transaction.HandlerTransaction;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.PendingClaim;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import java.sql.Connection;
import java.util.Optional;
import java.util.UUID;

/** What tests of late claims ask a store for. */
final class LateClaims {
  private static final Procedure CREATE_THING =
      Procedure.annotated(ThingServiceGrpc.getCreateThingMethod())
          .execution(Execution.TRANSACTIONAL)
          .build();

  private LateClaims() {}

  /** Returns a request of a user and a key of its own. */
  static ClaimRequest request() {
    return requestOf(UUID.randomUUID());
  }

  /** Returns a request of a user, with a key of its own. */
  static ClaimRequest requestOf(UUID user) {
    return Things.claimOf(
        new IdempotencyKey(Caller.of(user), UUID.randomUUID().toString()),
        CREATE_THING,
        Fingerprinter.wholeRequest().fingerprint(Things.named("a thing")));
  }

  /** Returns what the handler of a call is given. */
  static Connection connection(Claim claim) {
    return transaction(claim).connection();
  }

  /** Returns what the handler of a call is given. */
  static Connection connection(PendingClaim claim) {
    return transaction(claim).connection();
  }

  static HandlerTransaction transaction(PendingClaim claim) {
    return (HandlerTransaction) claim.transaction();
  }

  static HandlerTransaction transaction(Claim claim) {
    return (HandlerTransaction) claim.transaction().orElseThrow();
  }

  static RecordedOutcome answer() {
    return new RecordedOutcome.Response(ByteString.copyFromUtf8("an answer"), Optional.empty());
  }
}
