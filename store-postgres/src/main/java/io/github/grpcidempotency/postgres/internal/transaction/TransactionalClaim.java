package io.github.grpcidempotency.postgres.internal.transaction;

import io.github.grpcidempotency.postgres.internal.claim.PostgresClaim;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.ProcedureSql;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.StoreTransaction;
import io.github.grpcidempotency.store.StoreException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Optional;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.JdbiException;

/**
 * A claim that is a transaction: look-up, effect and record are one commit, and the database is the
 * fence. Until the commit, the claim has no row; duplicates detect it by an advisory lock.
 */
class TransactionalClaim extends PostgresClaim {
  final HandlerTransaction transaction;
  final ProcedureSql sql;

  /** The row that the transaction has deleted to make room. */
  private final Optional<UUID> cleared;

  TransactionalClaim(
      ProcedureSql sql,
      ClaimRequest request,
      UUID id,
      Instant expires,
      HandlerTransaction transaction,
      Optional<UUID> cleared) {
    super(request, id, 1, expires, sql.idType);
    this.transaction = transaction;
    this.sql = sql;
    this.cleared = cleared;
  }

  @Override
  public Optional<StoreTransaction> transaction() {
    return Optional.of(transaction);
  }

  @Override
  public Settled complete(RecordedOutcome outcome) {
    if (outcome instanceof RecordedOutcome.Failure) {
      return afterRollback(sql.recordFailure, values -> values.bindOutcome(outcome))
          ? Settled.DONE
          : Settled.LOST;
    }
    try {
      return record(outcome);
    } catch (StoreException failure) {
      throw Failures.isForbidden(failure) && mayRecord()
          ? FailedCommit.forbidden(failure)
          : failure;
    }
  }

  Settled record(RecordedOutcome outcome) {
    return transaction.finish(
        sql.record,
        values -> bind(values.bindOutcome(outcome)),
        row -> transaction instanceof OpenTransaction || row.getBoolean("taken"));
  }

  /**
   * Returns whether the application's role has the rights that its transaction lacked: then the
   * handler has changed the role of the transaction.
   */
  private boolean mayRecord() {
    try {
      return transaction
          .rollbackAnd(
              connection ->
                  StatementBatch.run(
                      connection,
                      sql.mayRecord,
                      values -> values,
                      row -> row.getBoolean("may_record")))
          .orElse(false);
    } catch (RuntimeException | Error unreachable) {
      return false;
    }
  }

  @Override
  public Settled markUnknown() {
    return release();
  }

  @Override
  public Settled release() {
    if (sql.wake.isEmpty()) {
      transaction.rollback();
    } else {
      afterRollback(sql.wake, values -> values);
    }
    return Settled.DONE;
  }

  /** Rolls back and runs a statement. Returns whether the statement returned a row. */
  private boolean afterRollback(String statement, UnaryOperator<Parameters> bindings) {
    try {
      return transaction
          .rollbackAnd(
              connection ->
                  StatementBatch.run(
                      connection, statement, values -> bind(bindings.apply(values)), row -> true))
          .isPresent();
    } catch (JdbiException failure) {
      if (Failures.isLostRace(failure)) {
        return false;
      }
      throw Failures.of("could not settle the call after the rollback", failure);
    }
  }

  final Parameters bind(Parameters values) {
    return values
        .bindOperation(request(), operationId())
        .bind("cleared", "uuid", cleared)
        .bind("expires", expires().atOffset(ZoneOffset.UTC));
  }
}
