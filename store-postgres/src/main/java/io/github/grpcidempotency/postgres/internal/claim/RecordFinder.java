package io.github.grpcidempotency.postgres.internal.claim;

import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.internal.database.Batches;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.ProcedureSql;
import io.github.grpcidempotency.postgres.internal.sql.RecordRow;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedProcedure;
import java.sql.Connection;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jdbi.v3.core.JdbiException;

/** Reads the row of a key, and writes nothing. Thread-safe. */
public final class RecordFinder {
  private final RecordDatabase database;
  private final IdempotencyKey key;
  private final RecordedProcedure procedure;
  private final ProcedureSql sql;

  /**
   * Reads the rows of several keys, with their statuses. Each key has a statement of its own,
   * because policies of the service's tables, which the outbox query reads, may depend on the one
   * user of a call.
   *
   * @param sql the statement of one key
   */
  private record Batch(String sql)
      implements Batches.Statement<IdempotencyKey, Optional<RecordRow>> {
    private static final int MAX_CALLS = 16;

    @Override
    public Batches.Kind kind() {
      return Batches.Kind.FIND;
    }

    /** Few sizes, because each one is a text of its own, which every connection has to prepare. */
    @Override
    public int size(int waiting) {
      return Integer.highestOneBit(Math.min(waiting, MAX_CALLS));
    }

    @Override
    public List<Optional<Optional<RecordRow>>> run(
        Connection connection, List<IdempotencyKey> keys) {
      return StatementBatch.runForEach(connection, sql, keys, Parameters::bindKey, RecordRow::read)
          .stream()
          .map(rows -> Optional.of(rows.stream().findFirst()))
          .toList();
    }
  }

  public RecordFinder(RecordDatabase database, IdempotencyKey key, RecordedProcedure procedure) {
    this.database = database;
    this.key = key;
    this.procedure = procedure;
    this.sql = database.sql(procedure);
  }

  /** Returns the record, or the reservation, unless it has expired. */
  Optional<ClaimResult> find() {
    return readAlone()
        .filter(row -> !row.expired())
        .map(row -> row.ended() ? row.recorded(procedure) : row.inFlight());
  }

  /**
   * Returns the record, the reservation, or the information that a transaction holds the key. The
   * lock is read first, in a separate statement, so that the second statement sees every record
   * that was committed before the lock was released.
   */
  public Optional<ClaimResult> findWithTransactions() {
    boolean locked = isInFlight();
    return find().or(() -> locked ? Optional.of(ClaimResult.InFlight.unseen()) : Optional.empty());
  }

  /** Returns whether a reservation is live, or a transaction holds the key. */
  boolean isInFlight() {
    return run(sql.isInFlight, row -> true).isPresent();
  }

  /**
   * Reads the row, expired or not, in a batch with other calls if there are any.
   *
   * @param gone whether nobody waits for the row any more
   * @throws java.util.concurrent.CancellationException if nobody did before the query was sent
   */
  Optional<RecordRow> read(BooleanSupplier gone) {
    return database.batches().run(new Batch(sql.find), key, 0, gone, this::readAlone);
  }

  /**
   * Reads the row, expired or not, for a call that probably has a row. If there is none, the call
   * claims the key. If the connection breaks, the result is empty too, and the claim finds the row.
   */
  public Optional<RecordRow> readBeforeClaim(BooleanSupplier gone) {
    try {
      return read(gone);
    } catch (JdbiException failure) {
      if (Failures.isCutOff(failure)) {
        return Optional.empty();
      }
      throw failure;
    }
  }

  /**
   * Reads the row with the status from the outbox. If the outbox query fails, reads the row without
   * the status, after the connection was returned: a pool may have closed it because of the failed
   * query, as HikariCP does for SQLSTATE 0A000.
   */
  private Optional<RecordRow> readAlone() {
    try {
      return run(sql.find, RecordRow::read);
    } catch (JdbiException failure) {
      if (!mayBeTheOutbox(failure)) {
        throw failure;
      }
      return readWithoutStatus(failure);
    }
  }

  /** If the statement works without the outbox query, the outbox query has failed. */
  private Optional<RecordRow> readWithoutStatus(JdbiException failure) {
    try {
      Optional<RecordRow> found = run(sql.findWithoutStatus, RecordRow::read);
      database.statusUnknown(procedure, found.map(RecordRow::id), failure);
      return found;
    } catch (JdbiException again) {
      again.addSuppressed(failure);
      throw again;
    }
  }

  /** Returns whether the outbox query may have caused a failure of a statement. */
  public static boolean mayBeTheOutbox(JdbiException failure) {
    return switch (Failures.causeOf(failure)) {
      case TIMEOUT, BROKEN, OTHER -> true;
      case NO_CONNECTION,
          NO_LOGIN,
          NO_PRIMARY,
          POOL_EXHAUSTED,
          CONNECTION_LOST,
          SHUTTING_DOWN,
          READ_ONLY,
          CONTENTION ->
          false;
    };
  }

  private <T> Optional<T> run(String statement, StatementBatch.RowReader<T> reader) {
    return database.onConnection(
        connection ->
            StatementBatch.run(connection, statement, values -> values.bindKey(key), reader));
  }
}
