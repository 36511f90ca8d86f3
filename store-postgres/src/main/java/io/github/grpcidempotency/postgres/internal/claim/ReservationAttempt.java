package io.github.grpcidempotency.postgres.internal.claim;

import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.ProcedureSql;
import io.github.grpcidempotency.postgres.internal.sql.RecordRow;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.FailurePhase;
import io.github.grpcidempotency.store.FailureRemedy;
import io.github.grpcidempotency.store.StoreException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.JdbiException;

/**
 * One claim of a reservation:
 *
 * <ol>
 *   <li>If the call announces that it is a retry, read the key's row.
 *   <li>Otherwise, or if there is no row, insert the reservation: one flush, and usually the only
 *       one.
 *   <li>If a row already existed, read it in a second flush. Reading it in the first flush would
 *       add a fifteenth to the database's cost of every call.
 *   <li>If the existing row has expired, replace it, or read the row of a faster claim.
 *   <li>If the existing row is the same request, abandoned by its owner, take it over.
 *   <li>If the existing row is gone, start again.
 * </ol>
 *
 * <p>The claim chooses the reservation's id, so that a flush whose answer was lost can be sent
 * again. It is sent with a new id: an id that others have seen must not be inserted again, because
 * its attempts would restart, and another call could still hold a fence with the same number. A row
 * with an id of this claim belongs to this claim only if nobody has changed the row since;
 * otherwise it is treated like any other row. A lease counts from the time when the database ran
 * the statement. If the answer took long, or was lost, the claim extends the lease before it wins,
 * and the database decides whether that was still possible.
 *
 * <p>If the database is read-only, or broken for all calls, the row is read without writing: a
 * readable record is replayed, and a known holder keeps its key.
 */
public final class ReservationAttempt {
  private static final int MAX_ROUNDS = 10;

  private final RecordDatabase database;
  private final ClaimRequest request;
  private final ProcedureSql sql;
  private final RecordFinder finder;
  private final Set<UUID> ids = new HashSet<>();

  private FailurePhase phase = FailurePhase.NOTHING_SENT;
  private Optional<String> timeLine = Optional.empty();
  private Optional<String> takenOverFrom = Optional.empty();
  private long sentNanos;

  public ReservationAttempt(RecordDatabase database, ClaimRequest request) {
    this.database = database;
    this.request = request;
    this.sql = database.sql(request.procedure());
    this.finder = new RecordFinder(database, request.key(), request.procedure());
  }

  public ClaimResult run() {
    try {
      return claim();
    } catch (JdbiException failure) {
      StoreException given = Failures.of("could not claim the key", failure, phase);
      if (FailureRemedy.of(phase, given.failureCause()) == FailureRemedy.FIND) {
        return find(given);
      }
      throw given;
    }
  }

  private ClaimResult claim() {
    Optional<RecordRow> found =
        request.retry() ? finder.readBeforeClaim(request.gone()) : reserve(this::insert);
    for (int round = 0; round < MAX_ROUNDS; round++) {
      Optional<ClaimResult> result = found.flatMap(this::claimOver);
      if (result.isPresent()) {
        return result.get();
      }
      boolean expired = found.map(RecordRow::expired).orElse(false);
      found = expired ? reserve(this::replaceExpired) : reserve(this::insert);
    }
    return found
        .filter(row -> !row.expired())
        .<ClaimResult>map(row -> row.inFlight())
        .orElseThrow(
            () ->
                new StoreException(
                    "the key changed its owner too often during one claim; the client can retry",
                    null,
                    FailurePhase.ROW_SEEN,
                    FailureCause.CONTENTION));
  }

  /**
   * Claims the key of a row: takes the row over if its owner has abandoned it. Returns the result;
   * empty if the row has to be read again.
   */
  private Optional<ClaimResult> claimOver(RecordRow row) {
    if (ids.contains(row.id()) && row.isUntouched()) {
      return win(row, row.attempt());
    }
    phase = FailurePhase.ROW_SEEN;
    if (row.expired()) {
      return Optional.empty();
    }
    if (row.ended()) {
      return Optional.of(row.recorded(request.procedure()));
    }
    if (row.isAbandoned() && row.isSameRequestAs(request)) {
      return takeOver(row).flatMap(attempt -> win(row, attempt));
    }
    return Optional.of(row.inFlight());
  }

  /** Returns the claim, unless its lease ended before the answer arrived. */
  private Optional<ClaimResult> win(RecordRow row, int attempt) {
    boolean sure = phase != FailurePhase.ANSWER_LOST && !isLate();
    return sure || (extend(row.id(), attempt) && !isLate())
        ? Optional.of(
            new ClaimResult.Won(
                new Reservation(
                    database, request, row.id(), attempt, row.expires(), timeLine, takenOverFrom)))
        : Optional.empty();
  }

  /** Returns whether so much of the lease may have passed that the first renewal would be late. */
  private boolean isLate() {
    return System.nanoTime() - sentNanos > database.lease().toNanos() / 3;
  }

  /** Reserves with a new id. If the answer is lost, reserves once more with another id. */
  private Optional<RecordRow> reserve(Function<UUID, Optional<RecordRow>> statements) {
    try {
      return statements.apply(newId());
    } catch (JdbiException failure) {
      FailureCause cause = Failures.causeOf(failure);
      if (Failures.isCutOff(failure)) {
        boolean again = FailureRemedy.of(phase, cause) == FailureRemedy.SEND_AGAIN;
        phase = phase == FailurePhase.ROW_SEEN ? phase : FailurePhase.ANSWER_LOST;
        if (again) {
          return statements.apply(newId());
        }
      }
      throw failure;
    }
  }

  /** Reads without writing, because the store cannot be written. */
  private ClaimResult find(StoreException broken) {
    try {
      return finder.find().orElseThrow(() -> broken);
    } catch (JdbiException failure) {
      broken.addSuppressed(failure);
      throw broken;
    }
  }

  private UUID newId() {
    UUID id = database.ids().next();
    ids.add(id);
    return id;
  }

  /**
   * Inserts the row, in a batch with other calls if there are any, or reads the existing row. A
   * call that is sent alone uses another id, because it may have been in a batch whose commit is
   * unknown.
   */
  private Optional<RecordRow> insert(UUID id) {
    Optional<Inserted> inserted =
        phase == FailurePhase.NOTHING_SENT
            ? database
                .batches()
                .run(
                    new ClaimBatch(database, request.procedure().sameDatabase()),
                    new ClaimBatch.Call(request, id),
                    0,
                    request.gone(),
                    () -> insertAlone(newId()))
            : insertAlone(id);
    return inserted.map(this::reserved).or(() -> finder.read(request.gone()));
  }

  private Optional<Inserted> insertAlone(UUID id) {
    long sent = System.nanoTime();
    return database.onConnection(
        connection ->
            StatementBatch.run(
                connection,
                sql.claim,
                values -> bind(values, id),
                row -> Inserted.read(row, sent)));
  }

  private RecordRow reserved(Inserted inserted) {
    sentNanos = inserted.sent();
    timeLine = inserted.timeLine();
    database.ids().compareClock(inserted.expires().minus(request.retention()));
    return RecordRow.reserved(inserted.id(), request, database.lease(), inserted.expires());
  }

  private Optional<RecordRow> replaceExpired(UUID id) {
    return send(
        sql.reclaim,
        values -> bind(values, id),
        row -> {
          readTimeLine(row);
          return RecordRow.read(row);
        });
  }

  private Optional<Integer> takeOver(RecordRow row) {
    return send(
        database.sql().takeOver,
        values -> bind(values, row.id()).bind("attempt", row.attempt()),
        taken -> {
          takenOverFrom = Optional.ofNullable(taken.getString("taken_over_from"));
          return readAttempt(taken);
        });
  }

  private int readAttempt(ResultSet row) throws SQLException {
    readTimeLine(row);
    return row.getInt("attempt");
  }

  private void readTimeLine(ResultSet row) throws SQLException {
    timeLine = Optional.ofNullable(row.getString("time_line"));
  }

  private boolean extend(UUID operation, int attempt) {
    return send(
            database.sql().extend,
            values -> bind(values, operation).bind("attempt", attempt),
            this::readAttempt)
        .isPresent();
  }

  private <T> Optional<T> send(
      String statement, UnaryOperator<Parameters> bindings, StatementBatch.RowReader<T> reader) {
    return database.onConnection(
        connection -> {
          sentNanos = System.nanoTime();
          return StatementBatch.run(connection, statement, bindings, reader);
        });
  }

  private Parameters bind(Parameters values, UUID operation) {
    return values
        .bindOperation(request, operation)
        .bind("lease_millis", database.lease().toMillis())
        .bind("server", database.settings().serverName());
  }
}
