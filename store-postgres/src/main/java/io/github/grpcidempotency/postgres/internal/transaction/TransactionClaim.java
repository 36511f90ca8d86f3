package io.github.grpcidempotency.postgres.internal.transaction;

import io.github.grpcidempotency.postgres.internal.claim.PostgresClaim;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.resource.ResourceIdType;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.StoreTransaction;
import java.sql.Connection;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Predicate;
import org.jdbi.v3.core.JdbiException;

/**
 * A claim whose handler writes through a transaction of the store. The transaction commits effect
 * and record together. An error is recorded, and the key released, after a rollback.
 */
abstract sealed class TransactionClaim extends PostgresClaim
    permits TransactionalClaim, ReservedClaim {
  final HandlerTransaction transaction;

  TransactionClaim(
      ClaimRequest request,
      UUID id,
      int attempt,
      Instant expires,
      ResourceIdType resourceIdType,
      HandlerTransaction transaction) {
    super(request, id, attempt, expires, resourceIdType);
    this.transaction = transaction;
  }

  /** Records an answer together with the handler's effect. */
  abstract Settled record(RecordedOutcome answer);

  /** Records an error on a connection without the handler's effect; returns whether it did. */
  abstract boolean recordFailure(Connection connection, RecordedOutcome.Failure failure);

  @Override
  public final Settled complete(RecordedOutcome outcome) {
    return outcome instanceof RecordedOutcome.Failure failure
        ? afterRollback(connection -> recordFailure(connection, failure))
        : record(outcome);
  }

  @Override
  public final Settled markUnknown() {
    return release();
  }

  /** Rolls back and runs a statement. */
  final Settled afterRollback(Predicate<Connection> statement) {
    try {
      return transaction.rollbackAnd(statement::test) ? Settled.DONE : Settled.LOST;
    } catch (JdbiException failure) {
      throw Failures.of("could not settle the call after the rollback", failure);
    }
  }

  @Override
  public final Optional<StoreTransaction> transaction() {
    return Optional.of(transaction);
  }
}
