package io.github.grpcidempotency.postgres.internal.claim;

import static java.util.stream.Collectors.toMap;

import io.github.grpcidempotency.postgres.internal.database.Batches;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.ProcedureSql;
import io.github.grpcidempotency.postgres.internal.sql.RecordRow;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.spi.FailureRemedy;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.JdbiException;

/**
 * One claim of a reservation. Each step is one statement:
 *
 * <ol>
 *   <li>If the call announces that it is a retry, read the key's row.
 *   <li>Otherwise, or if there is no row, insert the reservation: one flush, and usually the only
 *       one.
 *   <li>If nothing was inserted, there is a row, or a transactional call holds the key's lock. Read
 *       the row in a second flush. Reading it in the first flush would add a fifteenth to the
 *       database's cost of every call.
 *   <li>If the existing row has expired, delete it in the flush that inserts the reservation.
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
  private static final int MAX_STEPS = 20;

  private final RecordDatabase database;
  private final ClaimRequest request;
  private final ProcedureSql sql;
  private final RecordFinder finder;
  private final Set<UUID> ids = new HashSet<>();

  /** The result of a statement. */
  private sealed interface Step {
    /** Returns what is known about the key if the next statement fails. */
    FailurePhase known();
  }

  /** No row is known. */
  private record Free(FailurePhase known) implements Step {}

  /** A row exists, or did until now, or a transactional call holds the key. */
  private record Taken() implements Step {
    @Override
    public FailurePhase known() {
      return FailurePhase.ROW_SEEN;
    }
  }

  /** The row of another claim. */
  private record Found(RecordRow row) implements Step {
    @Override
    public FailurePhase known() {
      return FailurePhase.ROW_SEEN;
    }
  }

  /**
   * A reservation of this claim.
   *
   * @param sent when its lease began, by {@link System#nanoTime}; empty if that is not known
   */
  private record Reserved(
      UUID id,
      int attempt,
      Instant expires,
      Optional<String> timeLine,
      Optional<String> takenOverFrom,
      Optional<Long> sent)
      implements Step {
    /** Reads a reservation that a statement has inserted. */
    static Reserved inserted(ResultSet row, long sent) throws SQLException {
      return new Reserved(
          row.getObject("id", UUID.class),
          1,
          row.getObject("expires", OffsetDateTime.class).toInstant(),
          ReservationAttempt.timeLine(row),
          Optional.empty(),
          Optional.of(sent));
    }

    @Override
    public FailurePhase known() {
      return FailurePhase.ANSWER_LOST;
    }
  }

  private record Ended(ClaimResult result) implements Step {
    @Override
    public FailurePhase known() {
      throw new IllegalStateException("no statement follows");
    }
  }

  /** A call of a batch, and the id of its reservation. */
  private record Call(ClaimRequest request, UUID id) {}

  /** Inserts the reservations of several calls whose keys have no row. */
  private record Batch(RecordDatabase database, String sql)
      implements Batches.Statement<Call, Optional<Reserved>> {
    @Override
    public Batches.Kind kind() {
      return Batches.Kind.CLAIM;
    }

    @Override
    public List<Optional<Optional<Reserved>>> run(Connection connection, List<Call> calls) {
      List<ClaimRequest> requests = calls.stream().map(Call::request).toList();
      List<UUID> ids = calls.stream().map(Call::id).toList();
      long sent = System.nanoTime();
      Map<UUID, Reserved> inserted =
          StatementBatch.runForRows(
                  connection,
                  sql,
                  values -> bindServer(database, values.bindOperations(requests, ids)),
                  row -> Reserved.inserted(row, sent))
              .stream()
              .collect(toMap(Reserved::id, own -> own));
      return ids.stream().map(id -> Optional.of(Optional.ofNullable(inserted.get(id)))).toList();
    }
  }

  public ReservationAttempt(RecordDatabase database, ClaimRequest request) {
    this.database = database;
    this.request = request;
    this.sql = database.sql(request.procedure());
    this.finder = new RecordFinder(database, request.key(), request.procedure());
  }

  public ClaimResult run() {
    try {
      return claim();
    } catch (StoreException failure) {
      if (failure.failureCause().remedy(failure.phase()) == FailureRemedy.FIND) {
        return find(failure);
      }
      throw failure;
    }
  }

  private ClaimResult claim() {
    Free unknown = new Free(FailurePhase.NOTHING_SENT);
    Step step =
        request.retry()
            ? send(unknown, () -> found(finder.readBeforeClaim(request.gone()), unknown))
            : unknown;
    for (int steps = 0; steps < MAX_STEPS; steps++) {
      step = next(step);
      if (step instanceof Ended ended) {
        return ended.result();
      }
    }
    if (step instanceof Found other && !other.row().expired()) {
      return other.row().inFlight();
    }
    throw StoreException.of(
        step.known(),
        FailureCause.CONTENTION,
        "the key changed its owner too often during one claim; the client can retry");
  }

  private Step next(Step step) {
    if (step instanceof Free free) {
      return insert(free);
    }
    if (step instanceof Found other) {
      return claimOver(other);
    }
    return step instanceof Reserved own ? win(own) : send(step, this::read);
  }

  /**
   * Inserts the row, in a batch with other calls if there are any. If the answer is lost, inserts
   * it once more, alone.
   */
  private Step insert(Free before) {
    if (before.known() == FailurePhase.NOTHING_SENT) {
      try {
        return inserted(insertInBatch());
      } catch (JdbiException failure) {
        if (!Failures.isCutOff(failure)) {
          throw failed(failure, before);
        }
      }
      return insert(new Free(FailurePhase.ANSWER_LOST));
    }
    return send(before, () -> inserted(insertAlone(sql.claim)));
  }

  /** A call that is sent alone uses another id: its batch may have been committed. */
  private Optional<Reserved> insertInBatch() {
    return database
        .batches()
        .run(
            new Batch(database, sql.claimBatch),
            new Call(request, newId()),
            0,
            request.gone(),
            () -> insertAlone(sql.claim));
  }

  private Optional<Reserved> insertAlone(String statement) {
    UUID id = newId();
    long sent = System.nanoTime();
    return database.onConnection(
        connection ->
            StatementBatch.run(
                connection,
                statement,
                values -> bind(values, id),
                row -> Reserved.inserted(row, sent)));
  }

  private Step inserted(Optional<Reserved> made) {
    if (made.isEmpty()) {
      return new Taken();
    }
    database.ids().compareClock(made.get().expires().minus(request.retention()));
    return made.get();
  }

  private Step read() {
    Optional<RecordRow> row = finder.read(request.gone());
    return row.isEmpty() && finder.isInFlight()
        ? new Ended(ClaimResult.InFlight.unseen())
        : found(row, new Free(FailurePhase.ROW_SEEN));
  }

  private Step found(Optional<RecordRow> found, Step otherwise) {
    if (found.isEmpty()) {
      return otherwise;
    }
    RecordRow row = found.get();
    return ids.contains(row.id()) && row.isUntouched()
        ? new Reserved(
            row.id(),
            row.attempt(),
            row.expires(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty())
        : new Found(row);
  }

  /** Claims the key of a row that has expired, or that its owner has abandoned. */
  private Step claimOver(Found other) {
    RecordRow row = other.row();
    if (row.expired()) {
      return replace(other);
    }
    if (row.ended()) {
      return new Ended(row.recorded(request.procedure()));
    }
    return row.isAbandoned() && row.isSameRequestAs(request)
        ? takeOver(other)
        : new Ended(row.inFlight());
  }

  /** A row that stays although it has expired is that of a transactional call, which deletes it. */
  private Step replace(Found expired) {
    Step replaced = send(expired, () -> inserted(insertAlone(sql.claimExpired)));
    Step now = replaced instanceof Taken ? send(expired, this::read) : replaced;
    return now instanceof Found still && still.row().expired()
        ? new Ended(ClaimResult.InFlight.unseen())
        : now;
  }

  private Step takeOver(Found abandoned) {
    RecordRow row = abandoned.row();
    return this.<Step>send(
            abandoned,
            sql.takeOver,
            values -> bind(values, row.id()).bind("attempt", row.attempt()),
            (taken, sent) ->
                new Reserved(
                    row.id(),
                    taken.getInt("attempt"),
                    row.expires(),
                    timeLine(taken),
                    Optional.ofNullable(taken.getString("taken_over_from")),
                    Optional.of(sent)))
        .orElseGet(Taken::new);
  }

  /** Ends the claim, unless its lease may end before the first renewal. Then extends the lease. */
  private Step win(Reserved own) {
    if (own.sent().filter(sent -> !isLate(sent)).isPresent()) {
      return new Ended(
          new ClaimResult.Won(
              new Reservation(
                  database,
                  request,
                  own.id(),
                  own.attempt(),
                  own.expires(),
                  own.timeLine(),
                  own.takenOverFrom())));
    }
    return this.<Step>send(
            own,
            sql.extend,
            values -> bind(values, own.id()).bind("attempt", own.attempt()),
            (row, sent) ->
                new Reserved(
                    own.id(),
                    own.attempt(),
                    own.expires(),
                    timeLine(row),
                    own.takenOverFrom(),
                    Optional.of(sent)))
        .orElseGet(() -> new Free(FailurePhase.ANSWER_LOST));
  }

  /** Returns whether so much of the lease may have passed that the first renewal would be late. */
  private boolean isLate(long sent) {
    return System.nanoTime() - sent > database.lease().toNanos() / 3;
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

  /** Reads a row that a statement returned, and may use the time at which it was sent. */
  private interface StepReader<T> {
    T read(ResultSet row, long sent) throws SQLException;
  }

  private <T> Optional<T> send(
      Step before, String statement, UnaryOperator<Parameters> bindings, StepReader<T> reader) {
    return send(
        before,
        () ->
            database.onConnection(
                connection -> {
                  long sent = System.nanoTime();
                  return StatementBatch.run(
                      connection, statement, bindings, row -> reader.read(row, sent));
                }));
  }

  private <T> T send(Step before, Supplier<T> statement) {
    try {
      return statement.get();
    } catch (JdbiException failure) {
      throw failed(failure, before);
    }
  }

  private StoreException failed(JdbiException failure, Step before) {
    return database.failed("could not claim the key", failure, before.known());
  }

  private static Optional<String> timeLine(ResultSet row) throws SQLException {
    return Optional.ofNullable(row.getString("time_line"));
  }

  private UUID newId() {
    UUID id = database.ids().next();
    ids.add(id);
    return id;
  }

  private Parameters bind(Parameters values, UUID operation) {
    return bindServer(database, values.bindOperation(request, operation));
  }

  private static Parameters bindServer(RecordDatabase database, Parameters values) {
    return values
        .bind("lease_millis", database.lease().toMillis())
        .bind("server", database.settings().serverName());
  }
}
