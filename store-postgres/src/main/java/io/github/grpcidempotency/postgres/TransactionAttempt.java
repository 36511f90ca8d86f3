package io.github.grpcidempotency.postgres;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.internal.decision.FailureDecider;
import io.github.grpcidempotency.internal.decision.FailureDecider.Remedy;
import io.github.grpcidempotency.procedure.IdempotencyStatus;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.FailurePhase;
import io.github.grpcidempotency.store.StoreException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.JdbiException;

/**
 * One claim of a transaction:
 *
 * <ol>
 *   <li>If the call says that it is a retry, look for its answer, which opens no transaction.
 *   <li>Open a transaction, try the operation's advisory lock, and only then read the key's row, in
 *       a separate statement: the lock can be won just after the winner's commit, and an older
 *       snapshot would not see its record. This is one flush, and it never blocks.
 *   <li>If the lock is held, somebody runs the operation. If an answer is recorded, it is replayed.
 *       In either case the transaction is over.
 *   <li>If the transaction may not write, the database is a standby or set to read-only.
 *   <li>If there is a row that has expired, or that a crashed server has left, delete it within the
 *       transaction.
 *   <li>Otherwise the transaction belongs to the claim.
 * </ol>
 */
final class TransactionAttempt {
  private final RecordDatabase database;
  private final ClaimRequest request;
  private final ProcedureSql sql;
  private final UUID id;
  private FailurePhase phase = FailurePhase.NOTHING_SENT;

  /** What the lock's statement returns. */
  private record Lock(boolean won, Instant expires, boolean readOnly) {
    static Lock read(ResultSet row) throws SQLException {
      return new Lock(
          row.getBoolean("locked"),
          row.getObject("expires", OffsetDateTime.class).toInstant(),
          row.getBoolean("read_only"));
    }
  }

  TransactionAttempt(RecordDatabase database, ClaimRequest request) {
    this(database, request, UuidCreator.getTimeOrderedEpochFast());
  }

  /**
   * Makes the attempt.
   *
   * @param id the operation's, if it is won
   */
  TransactionAttempt(RecordDatabase database, ClaimRequest request, UUID id) {
    this.database = database;
    this.request = request;
    this.id = id;
    this.sql = database.sql(request.procedure());
  }

  ClaimResult run() {
    try {
      Optional<RecordRow> recorded = request.retry() ? findRecord() : Optional.empty();
      return recorded.isPresent()
          ? recorded.get().recorded(request.procedure())
          : claimAgainIfCut();
    } catch (JdbiException failure) {
      throw new StoreException(
          "could not claim the key", failure, phase, Failures.causeOf(failure));
    }
  }

  private Optional<RecordRow> findRecord() {
    return new RecordFinder(database, request.key(), request.procedure())
        .readBeforeClaim()
        .filter(RecordRow::isRecord);
  }

  private ClaimResult claimAgainIfCut() {
    try {
      return Contention.retrying(this::claim);
    } catch (JdbiException failure) {
      if (!Failures.isCutOff(failure)
          || FailureDecider.remedy(phase, Failures.causeOf(failure)) != Remedy.SEND_AGAIN) {
        throw failure;
      }
      phase = FailurePhase.ANSWER_LOST;
      return Contention.retrying(this::claim);
    }
  }

  private ClaimResult claim() {
    HandlerTransaction transaction = database.open(request.procedure().name());
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
                    sql.claimInTransaction(),
                    values -> OperationParameters.of(values, request, id),
                    Lock::read,
                    RecordRow::read));
    Optional<RecordRow> found = met.last();
    if (found.filter(RecordRow::isRecord).isPresent()) {
      RecordRow row = found.get();
      return row.recorded(row.status(request.procedure(), outbox -> ask(outbox, transaction, row)));
    }
    if (!met.first().won()) {
      return ClaimResult.InFlight.unseen();
    }
    if (met.first().readOnly()) {
      boolean unused = clear(transaction, id);
      throw new AssertionError("a read-only transaction has deleted");
    }
    if (found.isPresent() && !isOutOfTheWay(transaction, found.get())) {
      return found.get().inFlight();
    }
    return new ClaimResult.Won(
        new TransactionalClaim(
            sql, request, id, met.first().expires(), transaction, found.map(RecordRow::id)));
  }

  /**
   * Asks the outbox about a resource, together with the end of the transaction if the store ends
   * it. Empty if it cannot be asked.
   */
  private Optional<IdempotencyStatus> ask(
      OutboxStatusResolver outbox, HandlerTransaction transaction, RecordRow row) {
    if (row.resourceId().isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          outbox.statusOf(
              StatementBatch.runForFirst(
                  transaction.own(),
                  sql.rollbackWithStatus().orElseThrow(),
                  values -> values.bind("resource_id", row.resourceId().get()),
                  OutboxStatusResolver::found)));
    } catch (JdbiException failure) {
      database.statusUnknown(request.procedure(), failure);
      return Optional.empty();
    }
  }

  /**
   * Deletes the row of a key that nobody has locked, if it is expired, or the same request and
   * abandoned. Returns whether the row is gone. An expired row counts as gone even if somebody
   * else, such as a sweep, was faster: if a new row has taken its place, the unique index will
   * report it.
   */
  private boolean isOutOfTheWay(HandlerTransaction transaction, RecordRow row) {
    phase = FailurePhase.ROW_SEEN;
    if (row.expired()) {
      boolean unused = clear(transaction, row.id());
      return true;
    }
    return row.isAbandoned() && row.isSameRequestAs(request) && clear(transaction, row.id());
  }

  /**
   * Deletes the row. In a read-only transaction the database itself fails, so that a pool can
   * notice it.
   */
  private boolean clear(HandlerTransaction transaction, UUID row) {
    return StatementBatch.run(
            transaction.own(),
            database.reservationSql().clear(),
            values -> OperationParameters.of(values, request, row),
            cleared -> cleared.getObject("id", UUID.class))
        .isPresent();
  }
}
