package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.RecordedProcedure;
import java.util.Optional;
import org.jdbi.v3.core.JdbiException;

/** Finds what is recorded under a key, and writes nothing. It does not find expired records. */
final class RecordFinder {
  private final RecordDatabase database;
  private final IdempotencyKey key;
  private final RecordedProcedure procedure;
  private final ProcedureSql sql;

  RecordFinder(RecordDatabase database, IdempotencyKey key, RecordedProcedure procedure) {
    this.database = database;
    this.key = key;
    this.procedure = procedure;
    this.sql = database.sql(procedure);
  }

  /**
   * Returns the record, or the reservation.
   *
   * @throws JdbiException if it cannot be read
   */
  Optional<ClaimResult> find() {
    try {
      return find(sql.find(), true);
    } catch (JdbiException failure) {
      if (!Failures.isConnected(failure) || !mayBeTheOutbox(Failures.causeOf(failure))) {
        throw failure;
      }
      // The outbox query is to blame if the statement works without it.
      Optional<ClaimResult> found = find(sql.findWithoutStatus(), false);
      database.statusUnknown(procedure, failure);
      return found;
    }
  }

  /**
   * Returns the record, or the reservation, or that a transaction has the key. The lock is read
   * first, in a separate statement, so that reading the record sees what was committed in between.
   *
   * @throws JdbiException if it cannot be read
   */
  Optional<ClaimResult> findWithTransactions() {
    boolean locked = run(database.reservationSql().isInFlight(), row -> true).isPresent();
    return find().or(() -> locked ? Optional.of(ClaimResult.InFlight.unseen()) : Optional.empty());
  }

  /** Returns whether a failure of a statement with an outbox query may be the query's. */
  static boolean mayBeTheOutbox(FailureCause cause) {
    return switch (cause) {
      case TIMEOUT, BROKEN, OTHER -> true;
      case NO_CONNECTION, POOL_EXHAUSTED, CONNECTION_LOST, SHUTTING_DOWN, READ_ONLY, CONTENTION ->
          false;
    };
  }

  private Optional<ClaimResult> find(String statement, boolean outboxAsked) {
    return run(statement, RecordRow::read)
        .filter(row -> !row.expired())
        .map(
            row ->
                row.ended()
                    ? row.recorded(row.statusRead(procedure, outboxAsked))
                    : row.inFlight());
  }

  private <T> Optional<T> run(String statement, StatementBatch.RowReader<T> reader) {
    return database.onConnection(
        connection ->
            StatementBatch.run(
                connection,
                statement,
                values ->
                    values
                        .bind("user", key.caller().userId().toString())
                        .bind("key", key.stored())
                        .bindLate("lock", () -> LockId.of(key)),
                reader));
  }
}
