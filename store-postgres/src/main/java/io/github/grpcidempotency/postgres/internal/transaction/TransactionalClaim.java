package io.github.grpcidempotency.postgres.internal.transaction;

import io.github.grpcidempotency.postgres.internal.database.FailedCommit;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.OperationParameters;
import io.github.grpcidempotency.postgres.internal.sql.OutcomeParameters;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.ProcedureSql;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.ResourceIdType;
import io.github.grpcidempotency.store.StoreTransaction;
import java.sql.Connection;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.JdbiException;

/**
 * A claim that is a transaction: look-up, effect and record are one commit, and the database is the
 * fence. Until the commit, the claim has no row; duplicates detect it by an advisory lock.
 */
final class TransactionalClaim implements Claim {
  private final ProcedureSql sql;
  private final ClaimRequest request;
  private final UUID id;
  private final Instant expires;
  private final HandlerTransaction transaction;
  private final Optional<UUID> cleared;
  private volatile boolean failed;

  /**
   * Creates the claim.
   *
   * @param cleared the row that the transaction has deleted to make room
   */
  TransactionalClaim(
      ProcedureSql sql,
      ClaimRequest request,
      UUID id,
      Instant expires,
      HandlerTransaction transaction,
      Optional<UUID> cleared) {
    this.sql = sql;
    this.request = request;
    this.id = id;
    this.expires = expires;
    this.transaction = transaction;
    this.cleared = cleared;
  }

  /** Continues after a handler that has used an earlier transaction, which has ended. */
  void takeOver(HandlerTransaction earlier) {
    transaction.takeOver(earlier);
  }

  /**
   * Called when a statement of the handler has failed. After that, only an error can be recorded.
   */
  void failed() {
    failed = true;
  }

  @Override
  public ClaimRequest request() {
    return request;
  }

  @Override
  public UUID operationId() {
    return id;
  }

  @Override
  public int attempt() {
    return 1;
  }

  @Override
  public Instant expires() {
    return expires;
  }

  @Override
  public ResourceIdType resourceIdType() {
    return sql.idType();
  }

  @Override
  public Optional<StoreTransaction> transaction() {
    return Optional.of(transaction);
  }

  @Override
  public Settled complete(RecordedOutcome outcome) {
    return outcome instanceof RecordedOutcome.Failure failure
        ? recordFailure(failure)
        : record(outcome);
  }

  @Override
  public Settled release() {
    if (sql.wake().isEmpty()) {
      transaction.rollback();
    } else {
      afterRollback(connection -> run(connection, sql.wake(), values -> values));
    }
    return Settled.DONE;
  }

  @Override
  public Settled markUnknown() {
    return release();
  }

  private Settled record(RecordedOutcome answer) {
    if (failed) {
      transaction.rollback();
      return FailedCommit.failedStatement();
    }
    return transaction.finish(sql.record(), values -> bind(OutcomeParameters.of(values, answer)));
  }

  /** Records a terminal error without the effect: rolls back first. */
  private Settled recordFailure(RecordedOutcome.Failure failure) {
    boolean recorded =
        afterRollback(
            connection ->
                run(
                    connection,
                    sql.recordFailure(),
                    values -> OutcomeParameters.of(values, failure)));
    return recorded ? Settled.DONE : Settled.LOST;
  }

  private boolean afterRollback(Function<Connection, Boolean> work) {
    try {
      return transaction.rollbackAnd(work);
    } catch (JdbiException failure) {
      throw Failures.of("could not settle the call after the rollback", failure);
    }
  }

  private boolean run(Connection connection, String statement, UnaryOperator<Parameters> bindings) {
    return StatementBatch.run(
            connection, statement, values -> bind(bindings.apply(values)), row -> id)
        .isPresent();
  }

  private Parameters bind(Parameters values) {
    return OperationParameters.of(values, request, id)
        .bind("cleared", "uuid", cleared)
        .bind("expires", expires.atOffset(ZoneOffset.UTC));
  }
}
