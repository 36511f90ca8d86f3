package io.github.grpcidempotency.postgres.internal.claim;

import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.sql.CommitRefusal;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.LastStatements;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.ProcedureSql;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.resource.ResourceIdType;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.RecordedOutcome;
import java.sql.Connection;
import java.time.OffsetDateTime;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.JdbiException;

/**
 * The row of a reservation, for its owner. Every statement names the owner's attempt, so it changes
 * nothing after another owner has taken over. Thread-safe.
 *
 * @param timeLine the time line on which {@link #complete} records; empty if any time line will do
 */
public record ReservedRow(
    RecordDatabase database,
    ClaimRequest request,
    UUID id,
    int attempt,
    Optional<String> timeLine) {
  /**
   * Records an answer, without its resource if the resource does not exist. Returns {@code LOST} if
   * the row was not the owner's, or already had an answer.
   */
  public Settled complete(Connection connection, RecordedOutcome outcome) {
    try {
      return complete(connection, sql().complete, outcome) ? Settled.DONE : Settled.LOST;
    } catch (JdbiException failure) {
      if (!Failures.isForeignKeyViolation(failure)) {
        throw failure;
      }
      database.unreferred(request.procedure(), id);
      return complete(connection, sql().completeWithoutResource, outcome)
          ? Settled.UNREFERRED
          : Settled.LOST;
    }
  }

  /**
   * Records an answer, or deletes the row if there is none, together with those of other calls if
   * there are any.
   *
   * @param alone does the same alone
   */
  Settled settleInBatch(Optional<RecordedOutcome> outcome, Supplier<Settled> alone) {
    Optional<String> statement =
        outcome.isPresent() ? sql().completeBatch : Optional.of(sql().releaseBatch);
    if (statement.isEmpty()) {
      return alone.get();
    }
    SettleBatch.Call call = new SettleBatch.Call(this, outcome);
    return database
        .batches()
        .run(new SettleBatch(statement.get()), call, call.bytes(), () -> false, alone);
  }

  private boolean complete(Connection connection, String statement, RecordedOutcome outcome) {
    return touch(
        connection,
        statement,
        values -> values.bindOutcome(outcome).bind("time_line", "text", timeLine));
  }

  /** Returns whether an earlier statement, whose result was lost, has recorded the answer. */
  boolean isCompleted(Connection connection) {
    return touch(connection, database.sql().completed);
  }

  public boolean release(Connection connection) {
    return touch(connection, sql().release);
  }

  boolean markUnknown(Connection connection) {
    return touch(connection, database.sql().markUnknown);
  }

  /**
   * Locks the row in the handler's own transaction, and returns the transaction's id.
   *
   * @throws JdbiException with a {@link CommitRefusal}, if the row was not the owner's
   */
  String lock(Connection connection) {
    return run(
            connection, database.sql().lock, values -> values, row -> row.getString("transaction"))
        .orElseThrow();
  }

  public boolean isOpen(Connection connection, String transaction) {
    return StatementBatch.run(
            connection,
            database.sql().isOpen,
            values -> values.bind("transaction", "text", Optional.of(transaction)),
            row -> row.getBoolean("open"))
        .orElse(false);
  }

  /** Returns whether a transaction of the handler has changed or locked a row of any table. */
  boolean hasChanges(Connection connection) {
    return StatementBatch.run(
            connection,
            database.sql().hasChanges,
            values -> values,
            row -> row.getBoolean("changes"))
        .orElse(false);
  }

  public LastStatements joining() {
    return sql().join;
  }

  /**
   * Records an answer in the handler's own transaction, by one of {@link #joining}.
   *
   * @param lockedBy the id of the transaction that has locked the row
   * @throws JdbiException with a {@link CommitRefusal}, if the row was not the owner's
   */
  public void join(
      Connection connection,
      String statements,
      RecordedOutcome outcome,
      Optional<String> lockedBy) {
    StatementBatch.run(
        connection,
        statements,
        values -> identify(values.bindOutcome(outcome)).bind("locked_by", "text", lockedBy));
  }

  /**
   * Begins the transaction of a transactional call. Returns a value that distinguishes this
   * transaction from later ones.
   *
   * @throws JdbiException also if the row was changed after the transaction's snapshot
   */
  public OffsetDateTime beginTransaction(Connection connection) {
    return StatementBatch.runForFirst(
        connection,
        database.sql().beginReserved,
        this::identify,
        begun -> begun.getObject("expires", OffsetDateTime.class));
  }

  public LastStatements recording() {
    return sql().recordReserved;
  }

  /** Binds the parameters that record an answer at the end of {@link #beginTransaction}. */
  public Parameters bindRecording(
      Parameters values, RecordedOutcome outcome, OffsetDateTime begun) {
    return identify(values.bindOutcome(outcome)).bind("cleared", id).bind("expires", begun);
  }

  public ResourceIdType resourceIdType() {
    return sql().idType;
  }

  private ProcedureSql sql() {
    return database.sql(request.procedure());
  }

  private boolean touch(Connection connection, String statement) {
    return touch(connection, statement, values -> values);
  }

  private boolean touch(
      Connection connection, String statement, UnaryOperator<Parameters> bindings) {
    return run(connection, statement, bindings, row -> row.getObject("id", UUID.class)).isPresent();
  }

  private <T> Optional<T> run(
      Connection connection,
      String statement,
      UnaryOperator<Parameters> bindings,
      StatementBatch.RowReader<T> reader) {
    return StatementBatch.run(
        connection, statement, values -> identify(bindings.apply(values)), reader);
  }

  private Parameters identify(Parameters values) {
    return values.bindOperation(request, id).bind("attempt", attempt);
  }
}
