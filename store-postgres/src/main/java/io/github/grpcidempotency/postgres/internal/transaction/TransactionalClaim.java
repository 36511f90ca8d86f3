package io.github.grpcidempotency.postgres.internal.transaction;

import io.github.grpcidempotency.postgres.internal.database.FailedCommit;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.ProcedureSql;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.RecordedOutcome;
import java.sql.Connection;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Optional;
import java.util.UUID;
import java.util.function.UnaryOperator;

/**
 * A claim that is a transaction: look-up, effect and record are one commit, and the database is the
 * fence. Until the commit, the claim has no row; duplicates detect it by an advisory lock.
 */
final class TransactionalClaim extends TransactionClaim {
  private final ProcedureSql sql;

  /** The row that the transaction has deleted to make room. */
  private final Optional<UUID> cleared;

  private volatile boolean failed;

  TransactionalClaim(
      ProcedureSql sql,
      ClaimRequest request,
      UUID id,
      Instant expires,
      HandlerTransaction transaction,
      Optional<UUID> cleared) {
    super(request, id, 1, expires, sql.idType, transaction);
    this.sql = sql;
    this.cleared = cleared;
  }

  /**
   * Called when a statement of the handler has failed. After that, only an error can be recorded.
   */
  void failed() {
    failed = true;
  }

  @Override
  public Settled release() {
    if (sql.wake.isEmpty()) {
      transaction.rollback();
    } else {
      Settled unused = afterRollback(connection -> run(connection, sql.wake, values -> values));
    }
    return Settled.DONE;
  }

  @Override
  Settled record(RecordedOutcome answer) {
    if (failed) {
      transaction.rollback();
      return FailedCommit.failedStatement();
    }
    return transaction.finish(sql.record, values -> bind(values.bindOutcome(answer)));
  }

  @Override
  boolean recordFailure(Connection connection, RecordedOutcome.Failure failure) {
    return run(connection, sql.recordFailure, values -> values.bindOutcome(failure));
  }

  private boolean run(Connection connection, String statement, UnaryOperator<Parameters> bindings) {
    return StatementBatch.run(
            connection, statement, values -> bind(bindings.apply(values)), row -> true)
        .isPresent();
  }

  private Parameters bind(Parameters values) {
    return values
        .bindOperation(request(), operationId())
        .bind("cleared", "uuid", cleared)
        .bind("expires", expires().atOffset(ZoneOffset.UTC));
  }
}
