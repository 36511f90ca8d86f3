package io.github.grpcidempotency.postgres.internal.transaction;

import io.github.grpcidempotency.postgres.internal.claim.RecordFinder;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.ProcedureSql;
import io.github.grpcidempotency.postgres.internal.sql.RecordRow;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.JdbiException;

/**
 * One claim of a transaction:
 *
 * <ol>
 *   <li>If the call announces that it is a retry, look for its answer, which opens no transaction.
 *   <li>Open a transaction, try the operation's advisory lock, and only then read the key's row, in
 *       a separate statement: the lock can be won just after the winner's commit, and an older
 *       snapshot would not see its record. This is one flush, and it never blocks.
 *   <li>If the lock is held, another call runs the operation. If an answer is recorded, it is
 *       replayed. In either case the transaction ends.
 *   <li>If the transaction is read-only, the database is a standby or set to read-only, and the
 *       claim fails.
 *   <li>If there is a row that has expired, or that a crashed server has left, delete it within the
 *       transaction.
 *   <li>Otherwise the transaction belongs to the claim.
 * </ol>
 */
public final class TransactionAttempt {
  private final RecordDatabase database;
  private final ClaimRequest request;
  private final ProcedureSql sql;
  private final UUID id;

  /** The result of the statement that takes the lock. */
  private record Lock(boolean won, Instant expires, boolean readOnly) {
    static Lock read(ResultSet row) throws SQLException {
      return new Lock(
          row.getBoolean("locked"),
          row.getObject("expires", OffsetDateTime.class).toInstant(),
          row.getBoolean("read_only"));
    }
  }

  public TransactionAttempt(RecordDatabase database, ClaimRequest request) {
    this.database = database;
    this.request = request;
    this.id = database.ids().next();
    this.sql = database.sql(request.procedure());
  }

  public ClaimResult run() {
    Optional<RecordRow> found = request.retry() ? find() : Optional.empty();
    return found
        .filter(RecordRow::isRecord)
        .<ClaimResult>map(row -> row.recorded(request.procedure()))
        .orElseGet(
            () -> claim(found.isPresent() ? FailurePhase.ROW_SEEN : FailurePhase.NOTHING_SENT));
  }

  private Optional<RecordRow> find() {
    try {
      return new RecordFinder(database, request.key(), request.procedure())
          .readBeforeClaim(request.gone());
    } catch (JdbiException failure) {
      throw failed(failure, FailurePhase.NOTHING_SENT);
    }
  }

  /** Claims the key, and once more if the connection breaks. */
  private ClaimResult claim(FailurePhase known) {
    try {
      return RecordDatabase.retrying(this::claim);
    } catch (JdbiException failure) {
      if (!Failures.isCutOff(failure)) {
        throw failed(failure, known);
      }
    }
    try {
      return RecordDatabase.retrying(this::claim);
    } catch (JdbiException failure) {
      throw failed(failure, known == FailurePhase.NOTHING_SENT ? FailurePhase.ANSWER_LOST : known);
    }
  }

  private StoreException failed(JdbiException failure, FailurePhase phase) {
    return database.failed("could not claim the key", failure, phase);
  }

  private ClaimResult claim() {
    HandlerTransaction transaction = HandlerTransaction.open(database, request.procedure().name());
    boolean owned = false;
    try {
      ClaimResult result = claim(transaction);
      owned = result instanceof ClaimResult.Won;
      return result;
    } finally {
      if (!owned) {
        transaction.rollback();
      }
    }
  }

  private ClaimResult claim(HandlerTransaction transaction) {
    StatementBatch.Ends<Lock, RecordRow> met =
        transaction.begin(
            connection ->
                StatementBatch.runForBoth(
                    connection,
                    sql.claimInTransaction,
                    values -> values.bindOperation(request, id),
                    Lock::read,
                    RecordRow::read));
    database.ids().compareClock(met.first().expires().minus(request.retention()));
    Optional<RecordRow> found = met.last();
    if (found.filter(RecordRow::isRecord).isPresent()) {
      RecordRow row = found.get();
      return row.recorded(
          request.procedure().outbox().flatMap(outbox -> endWithStatus(outbox, transaction, row)));
    }
    if (!met.first().won()) {
      return ClaimResult.InFlight.unseen();
    }
    if (met.first().readOnly()) {
      throw refusedDelete(transaction);
    }
    if (found.isPresent() && !deleteIfEndedOrAbandoned(transaction, found.get())) {
      return found.get().inFlight();
    }
    return new ClaimResult.Won(
        new TransactionalClaim(
            sql, request, id, met.first().expires(), transaction, found.map(RecordRow::id)));
  }

  /**
   * Queries the outbox for a resource's status, and ends the transaction in the same flush if the
   * store ends it. Empty if the query fails.
   */
  private Optional<IdempotencyStatus> endWithStatus(
      OutboxQuery outbox, HandlerTransaction transaction, RecordRow row) {
    if (row.resourceId().isEmpty()) {
      return Optional.empty();
    }
    try {
      List<String> entries =
          StatementBatch.runForOne(
              transaction.unguarded(),
              sql.rollbackWithStatus.orElseThrow(),
              sql.beforeOutbox,
              values ->
                  values
                      .bindCaller(request.key().caller())
                      .bind("resource_id", row.resourceId().get().toString()),
              RecordRow::outboxStatus);
      return outbox.statusOf(entries, row.young());
    } catch (JdbiException failure) {
      database.statusUnknown(request.procedure(), Optional.of(row.id()), failure);
      return Optional.empty();
    }
  }

  /**
   * Deletes the row of a key if it is not locked, and is either expired or the same request,
   * abandoned. Returns whether the row is gone. An expired row counts as gone even if another
   * transaction, such as a sweep, has deleted it: if a new row has taken its place, the unique
   * index reports that later.
   */
  private boolean deleteIfEndedOrAbandoned(HandlerTransaction transaction, RecordRow row) {
    if (!row.expired() && !(row.isAbandoned() && row.isSameRequestAs(request))) {
      return false;
    }
    try {
      return delete(transaction, row.id()) || row.expired();
    } catch (JdbiException failure) {
      if (Failures.causeOf(failure) == FailureCause.CONTENTION) {
        throw failure; // nothing was done, and the claim begins again
      }
      throw failed(failure, FailurePhase.ROW_SEEN);
    }
  }

  /**
   * Sends a DELETE that the database refuses because the transaction is read-only, so that the pool
   * sees the failure.
   */
  private AssertionError refusedDelete(HandlerTransaction transaction) {
    delete(transaction, id);
    return new AssertionError("the database accepted a DELETE in a read-only transaction");
  }

  /** Deletes a row that is not locked. Returns whether it did. */
  private boolean delete(HandlerTransaction transaction, UUID row) {
    return StatementBatch.runForFirstTwo(
            transaction.unguarded(),
            sql.deleteEnded,
            values -> values.bindOperation(request, row),
            kept -> true,
            deleted -> true)
        .last()
        .isPresent();
  }
}
