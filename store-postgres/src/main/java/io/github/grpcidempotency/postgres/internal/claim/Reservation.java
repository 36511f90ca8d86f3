package io.github.grpcidempotency.postgres.internal.claim;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.postgres.internal.database.Batches;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.ProcedureSql;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.StoreTransaction;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.JdbiException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A claim that is a committed reservation in the table: a lease, fenced by its attempt. Every
 * statement names the attempt, so it changes nothing after another owner has taken over.
 *
 * <p>A statement in a transaction of its own settles the claim, together with those of other calls
 * if there are any. If a transaction of the handler has recorded the answer, or is open when the
 * handler answers, {@link JoinedCompletion} decides first.
 */
public final class Reservation extends PostgresClaim {
  private static final Logger logger = LoggerFactory.getLogger(Reservation.class);

  private final RecordDatabase database;
  private final ProcedureSql sql;
  private final Optional<String> timeLine;
  private final Optional<String> takenOverFrom;
  private final JoinedCompletion joined = new JoinedCompletion(this);
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * A call of a batch, and its answer if it has one.
   *
   * @param outcome empty if the reservation is deleted
   */
  private record Call(Reservation claim, Optional<RecordedOutcome> outcome) {
    int bytes() {
      return response().or(this::error).map(ByteString::size).orElse(0);
    }

    Optional<ByteString> response() {
      return outcome.flatMap(Parameters::response);
    }

    Optional<ByteString> error() {
      return outcome.flatMap(Parameters::error);
    }

    @Nullable String resourceId() {
      return outcome.flatMap(RecordedOutcome::resourceId).map(ResourceId::toString).orElse(null);
    }

    @Nullable String timeLine() {
      return claim.timeLine.orElse(null);
    }
  }

  /**
   * Records the answers of several calls, or deletes their reservations. Skips a row that is not
   * its call's any more, or that another transaction has locked; then the call's own statement
   * decides.
   */
  private record Batch(String sql) implements Batches.Statement<Call, Settled> {
    @Override
    public Batches.Kind kind() {
      return Batches.Kind.SETTLE;
    }

    @Override
    public List<Optional<Settled>> run(Connection connection, List<Call> calls) {
      List<ClaimRequest> requests = calls.stream().map(call -> call.claim().request()).toList();
      List<UUID> ids = calls.stream().map(call -> call.claim().operationId()).toList();
      List<UUID> settled =
          StatementBatch.runForRows(
              connection,
              sql,
              values ->
                  values
                      .bindOperations(requests, ids)
                      .bindEach("attempts", calls, call -> call.claim().attempt(), Integer[]::new)
                      .bindEachBytes("responses", calls, Call::response)
                      .bindEachBytes("statuses", calls, Call::error)
                      .bindEach("resource_ids", calls, Call::resourceId, String[]::new)
                      .bindEach("time_lines", calls, Call::timeLine, String[]::new),
              Reservation::id);
      return ids.stream()
          .map(id -> settled.contains(id) ? Optional.of(Settled.DONE) : Optional.<Settled>empty())
          .toList();
    }
  }

  /**
   * Creates a claim of a row that this server has reserved.
   *
   * @param timeLine the time line on which an answer is recorded; empty if any time line will do
   */
  Reservation(
      RecordDatabase database,
      ClaimRequest request,
      UUID id,
      int attempt,
      Instant expires,
      Optional<String> timeLine,
      Optional<String> takenOverFrom) {
    super(request, id, attempt, expires, database.sql(request.procedure()).idType);
    this.database = database;
    this.sql = database.sql(request.procedure());
    this.timeLine = timeLine;
    this.takenOverFrom = takenOverFrom;
  }

  @Override
  public Optional<String> takenOverFrom() {
    return takenOverFrom;
  }

  @Override
  public Optional<StoreTransaction> transaction() {
    return Optional.empty();
  }

  @Override
  public Settled complete(RecordedOutcome outcome) {
    return joined
        .settle(outcome)
        .orElseGet(
            () ->
                settle(
                    "record the answer",
                    Optional.of(outcome),
                    connection -> record(connection, outcome)));
  }

  /** Keeps the key if the handler may have an effect, although it has answered an error. */
  @Override
  public Settled release() {
    if (joined.stopOpenTransaction() == JoinedCompletion.HostsTransaction.UNKNOWN) {
      return markUnknown();
    }
    return joined
        .settleWithoutAnswer()
        .orElseGet(
            () ->
                settle(
                    "release the key",
                    Optional.empty(),
                    connection -> settled(connection, delete(connection))));
  }

  @Override
  public Settled markUnknown() {
    return joined
        .settleWithoutAnswer()
        .orElseGet(
            () ->
                onOtherConnection(
                    "mark the outcome as unknown",
                    connection -> settled(connection, markUnknown(connection))));
  }

  /** The reservation itself stays until its lease ends, if it is not settled. */
  @Override
  public void close() {
    if (!closed.getAndSet(true)) {
      database.settings().connections().release();
    }
  }

  /** Returns what the handler's own transactions do with this claim. */
  public JoinedCompletion joined() {
    return joined;
  }

  RecordDatabase database() {
    return database;
  }

  ProcedureSql sql() {
    return sql;
  }

  /**
   * Settles in a batch with other calls, or on a connection of its own. A batch would not wait for
   * a transaction of the handler that has locked the row or recorded an answer.
   *
   * @param outcome empty if the row is deleted
   * @param alone settles on a connection of its own
   */
  private Settled settle(
      String what, Optional<RecordedOutcome> outcome, Function<Connection, Settled> alone) {
    Optional<String> batch =
        outcome.isPresent() ? sql.completeBatch : Optional.of(sql.releaseBatch);
    if (batch.isEmpty() || joined.hasUsedTheRow()) {
      return onOtherConnection(what, alone);
    }
    Call call = new Call(this, outcome);
    return database.inStore(
        what,
        () ->
            database
                .batches()
                .run(
                    new Batch(batch.get()),
                    call,
                    call.bytes(),
                    () -> false,
                    () -> database.onConnection(alone)));
  }

  /**
   * Runs statements on another connection, where they would wait if a transaction of the handler
   * had locked the row.
   */
  <T> T onOtherConnection(String what, Function<Connection, T> statements) {
    return database.inStore(
        what,
        connection -> {
          joined.checkUnlocked(connection);
          return statements.apply(connection);
        });
  }

  /**
   * Records an answer. If the row has one, an earlier statement has recorded it, whose result was
   * lost.
   */
  Settled record(Connection connection, RecordedOutcome outcome) {
    try {
      if (record(connection, sql.complete, outcome)) {
        return Settled.DONE;
      }
    } catch (JdbiException failure) {
      if (!Failures.isForeignKeyViolation(failure)) {
        throw failure;
      }
      database.unreferred(request().procedure(), operationId());
      if (record(connection, sql.completeWithoutResource, outcome)) {
        return Settled.UNREFERRED;
      }
    }
    if (isCompleted(connection)) {
      return Settled.DONE;
    }
    if (timeLine.isPresent() && markUnknown(connection)) {
      logger.warn(
          "the database failed over while the handler of operation {} was running, and may have"
              + " lost the handler's writes: the answer is not recorded, and a retry runs the"
              + " handler again once the lease has ended",
          operationId());
    }
    return Settled.LOST;
  }

  private boolean record(Connection connection, String statement, RecordedOutcome outcome) {
    return touch(
        connection,
        statement,
        values -> values.bindOutcome(outcome).bind("time_line", "text", timeLine));
  }

  private Settled settled(Connection connection, boolean changed) {
    return changed || (joined.isUsed() && isCompleted(connection)) ? Settled.DONE : Settled.LOST;
  }

  boolean isCompleted(Connection connection) {
    return touch(connection, sql.isCompleted, values -> values);
  }

  boolean delete(Connection connection) {
    return touch(connection, sql.release, values -> values);
  }

  boolean markUnknown(Connection connection) {
    return touch(connection, sql.markUnknown, values -> values);
  }

  private boolean touch(
      Connection connection, String statement, UnaryOperator<Parameters> bindings) {
    return StatementBatch.run(
            connection, statement, values -> identify(bindings.apply(values)), Reservation::id)
        .isPresent();
  }

  private static UUID id(ResultSet row) throws SQLException {
    return row.getObject("id", UUID.class);
  }

  /** Binds what identifies the row and its owner. */
  Parameters identify(Parameters values) {
    return values.bindOperation(request(), operationId()).bind("attempt", attempt());
  }
}
