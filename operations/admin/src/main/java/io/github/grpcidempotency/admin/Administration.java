package io.github.grpcidempotency.admin;

import io.github.grpcidempotency.postgres.IdempotencySchema;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;

/**
 * Finds, lists, frees, forgets and erases the records of calls, for operators. It calls functions
 * that the schema's owner grants to the operators' roles, with {@code grant_operator_to(role)} and,
 * for {@link #contents}, {@code grant_contents_to(role)}. These roles need no right on a table.
 * Every action, also a refused one, adds a row to an audit table that the role cannot change. A dry
 * run, and an erasure that was refused, add no row.
 *
 * <p>Every method throws {@link AdministrationException} if the role lacks the right, the schema is
 * missing or too old, or the database cannot be reached; the message contains the problem and its
 * remedy.
 *
 * <p>Thread-safe; blocks on the database. Each method runs one transaction ({@link #sweep} and
 * {@link #contents} run several) and keeps no state in the session, so a pooler can be used if the
 * URL has {@code prepareThreshold=0}.
 */
public final class Administration {
  private static final int SWEEP_BATCH = 1_000;
  private static final Duration ERASE_PAUSE = Duration.ofSeconds(1);
  private static final Pattern SCHEMA = Pattern.compile("[a-z_][a-z0-9_]{0,62}");

  private final OperatorDatabase database;

  /**
   * A row of a list: an operation with its page token, or only the token at which the next page
   * begins.
   */
  private record Place(Optional<OperationRecord> operation, String token) {
    static Place read(ResultSet row) throws SQLException {
      return new Place(
          row.getObject("id") == null ? Optional.empty() : Optional.of(Rows.operation(row)),
          row.getString("continue_with"));
    }
  }

  /** The result of a part of an erasure, and the id after which the next part begins. */
  private record ErasePart(ErasureResult result, Optional<UUID> upto) {
    static ErasePart read(ResultSet row, boolean done) throws SQLException {
      return new ErasePart(
          new ErasureResult(
              done, row.getLong("records"), row.getLong("reservations"), row.getLong("running")),
          Optional.ofNullable(row.getObject("upto", UUID.class)));
    }
  }

  private Administration(OperatorDatabase database) {
    this.database = database;
  }

  /** Returns the administration of the schema {@link IdempotencySchema#DEFAULT_NAME}. */
  public static Administration on(DataSource operator) {
    return on(operator, IdempotencySchema.DEFAULT_NAME);
  }

  /**
   * Returns the administration of a schema. Does not connect to the database yet.
   *
   * @param operator a data source that connects as the operator's role
   * @param schema the library's schema, {@code idempotency} by default
   * @throws IllegalArgumentException if the name is not a plain lower case identifier
   */
  public static Administration on(DataSource operator, String schema) {
    if (!SCHEMA.matcher(schema).matches()) {
      throw new IllegalArgumentException(
          "the name of a schema must be a plain lower case identifier, not \"" + schema + "\"");
    }
    return new Administration(new OperatorDatabase(operator, schema));
  }

  /**
   * Returns an operation by its id. A transactional call has no record before it commits: see
   * {@link #isRunning}.
   */
  public Optional<OperationRecord> find(UUID id) {
    return page(Optional.of(id), Optional.empty(), OperationQuery.all()).operations().stream()
        .findFirst();
  }

  /**
   * Returns the newest 1,000 operations of a key: one for each user, tenant and project. A
   * transactional call has no record before it commits: see {@link #isRunning}. Earlier operations
   * of the key, if an operator has freed or forgotten them, are in the {@linkplain AuditQuery#ofKey
   * audit}.
   *
   * @param key the key as the client sends it, in its canonical form, with or without the prefix of
   *     its key source. Without it, the key is found if the prefix is {@code id:}, or one of the
   *     100 most frequent prefixes of the newest 10,000 records
   */
  public List<OperationRecord> findKey(String key, Scope scope) {
    OperationQuery newest = OperationQuery.all(scope, OperationQuery.MAX_LIMIT);
    return page(Optional.empty(), Optional.of(key), newest).operations();
  }

  /**
   * Returns whether a call of a user with this key is running: with a reservation whose lease has
   * not ended, or in a transaction, which has no record before it commits. If the scope has no
   * tenant or no project, a transaction in any tenant and project counts.
   *
   * @param key the key as for {@link #findKey}
   */
  public boolean isRunning(String key, Scope scope, UUID userId) {
    return operate(
        handle -> queryOfUser(handle, "is_running", key, scope, userId).mapTo(Boolean.class).one());
  }

  /**
   * Returns the running transactions of transactional calls of a user with this key. The arguments
   * are those of {@link #isRunning}.
   */
  public List<RunningTransaction> transactions(String key, Scope scope, UUID userId) {
    return operate(
        handle ->
            queryOfUser(handle, "transactions", key, scope, userId)
                .map((row, context) -> Rows.transaction(row))
                .list());
  }

  /**
   * Lists a page of operations: those that were created last first; or, if the query is about
   * expiry, those that expire soonest first.
   */
  public OperationPage list(OperationQuery query) {
    return page(Optional.empty(), Optional.empty(), query);
  }

  private OperationPage page(Optional<UUID> id, Optional<String> key, OperationQuery query) {
    List<OperationRecord> operations = new ArrayList<>();
    Optional<String> last = Optional.empty();
    boolean examinedOnly = false;
    for (Place place : operate(handle -> places(handle, id, key, query))) {
      place.operation().ifPresent(operations::add);
      examinedOnly = place.operation().isEmpty();
      last = Optional.of(place.token());
    }
    boolean more = examinedOnly || operations.size() == query.limit();
    return new OperationPage(operations, more ? last : Optional.empty());
  }

  private List<Place> places(
      Handle handle, Optional<UUID> id, Optional<String> key, OperationQuery query) {
    return query(handle, "find")
        .bind("id", id)
        .bind("key", key)
        .bindArray(
            "states", String.class, query.states().stream().map(OperationState::word).toList())
        .bind("procedure", query.procedure())
        .bind("tenant", query.scope().tenant())
        .bind("project", query.scope().project())
        .bind("user", query.userId())
        .bind("server", query.server())
        .bind("older_than_millis", query.olderThan().map(Duration::toMillis))
        .bind("newer_than_millis", query.newerThan().map(Duration::toMillis))
        .bind("expiring_within_millis", query.expiringWithin().map(Duration::toMillis))
        .bind("after", query.after())
        .bind("limit", query.limit())
        .map((row, context) -> Place.read(row))
        .list();
  }

  /**
   * Returns the recorded outcome of an operation. This needs a separate right, and is audited in a
   * separate transaction before anything is read.
   *
   * @return the outcome; empty if there is no such operation, or no outcome
   */
  public Optional<Contents> contents(UUID id, Act act) {
    Optional<Long> request =
        database.run(
            Right.READ_CONTENTS,
            handle ->
                act(handle, "request_contents", act)
                    .bind("id", id)
                    .map(
                        (row, context) ->
                            Rows.actResult(row.getString("result")) == ActResult.DONE
                                ? Optional.of(row.getLong("request"))
                                : Optional.<Long>empty())
                    .one());
    return request.flatMap(
        number ->
            database.run(
                Right.READ_CONTENTS,
                handle ->
                    query(handle, "contents")
                        .bind("request", number)
                        .map((row, context) -> Rows.contents(row))
                        .findOne()));
  }

  /**
   * Deletes a reservation, so that the next call with its key runs the handler. Calls that wait for
   * the reservation continue.
   *
   * <p>A reservation is live until its lease ends, unless its owner has marked the outcome as
   * unknown, or the lease {@linkplain OperationRecord#leaseIsAhead is ahead}. The database decides
   * this with the row locked, so that the owner can neither renew nor record meanwhile. The handler
   * may still be running although the lease has ended: its answer is then not recorded.
   *
   * @param evenIfLive frees a live reservation too; the owner's answer is then not recorded, and a
   *     retry may run at the same time
   * @param dryRun only returns what would happen
   */
  public ActResult free(UUID id, Act act, boolean evenIfLive, boolean dryRun) {
    return operate(
        handle ->
            act(handle, "free", act)
                .bind("id", id)
                .bind("even_if_live", evenIfLive)
                .bind("dry_run", dryRun)
                .map((row, context) -> Rows.actResult(row.getString(1)))
                .one());
  }

  /**
   * Deletes a recorded outcome, so that the next call with its key runs the handler again.
   *
   * @param dryRun only returns what would happen
   */
  public ActResult forget(UUID id, Act act, boolean dryRun) {
    return operate(
        handle ->
            act(handle, "forget", act)
                .bind("id", id)
                .bind("dry_run", dryRun)
                .map((row, context) -> Rows.actResult(row.getString(1)))
                .one());
  }

  /** Returns figures of the table. Cheap enough for a call every few seconds. */
  public Statistics statistics() {
    return operate(
        handle -> query(handle, "statistics").map((row, context) -> Rows.statistics(row)).one());
  }

  /**
   * Returns the records of each procedure, the procedure with the most records first. Reads 10,000
   * pages of the table, or all.
   */
  public List<Statistics.OfProcedure> procedures() {
    return operate(
        handle -> query(handle, "procedures").map((row, context) -> Rows.procedure(row)).list());
  }

  /**
   * Deletes expired records until none is left, in batches of 1,000. Each batch is a transaction.
   * The last one adds a row with the number of all deleted records to the audit table.
   *
   * @return the number of deleted records
   */
  public long sweep(Act act) {
    long swept = 0;
    int batch;
    do {
      batch = sweepBatch(SWEEP_BATCH, swept, act);
      swept += batch;
    } while (batch == SWEEP_BATCH && !Thread.currentThread().isInterrupted());
    if (batch == SWEEP_BATCH) {
      sweepBatch(0, swept, act);
    }
    return swept;
  }

  private int sweepBatch(int records, long swept, Act act) {
    return operate(
        handle ->
            act(handle, "sweep", act)
                .bind("batch", records)
                .bind("swept", swept)
                .mapTo(Integer.class)
                .one());
  }

  /**
   * Deletes the records of a user or a tenant, in batches. Each batch is a transaction, and adds a
   * row with a hash of the user or tenant to the audit table. The next call with an erased key runs
   * its handler.
   *
   * <p>An operation whose handler is running is not deleted. If there is one, and {@code wait} is
   * zero, nothing is deleted; otherwise its record is deleted after it has ended, and the result
   * contains the number of those that have not ended in time. A transactional call has no record
   * before it commits, and a call may arrive at any time, so first keep the user's or tenant's
   * calls away.
   *
   * @param wait how long to wait for running operations; zero to delete nothing if there is one
   * @param dryRun only counts
   */
  public ErasureResult erase(Erasure what, Act act, Duration wait, boolean dryRun) {
    if (dryRun || wait.isZero()) {
      ErasureResult expected = eraseFrom(Optional.empty(), what, act, true).result();
      if (dryRun || expected.running() > 0) {
        return expected;
      }
    }
    long deadline = System.nanoTime() + wait.toNanos();
    ErasePart part = eraseFrom(Optional.empty(), what, act, false);
    ErasureResult total = part.result();
    while (total.running() > 0 && System.nanoTime() < deadline && pause()) {
      // No row before the first running operation is left.
      part = eraseFrom(part.upto(), what, act, false);
      total = new ErasureResult(true, total.records(), total.reservations(), 0).plus(part.result());
    }
    return total;
  }

  /**
   * Examines the rows after an id, or all rows, once, in batches. The next part begins with the
   * first batch that contains a running operation.
   */
  private ErasePart eraseFrom(Optional<UUID> start, Erasure what, Act act, boolean dryRun) {
    ErasureResult total = new ErasureResult(!dryRun, 0, 0, 0);
    Optional<UUID> continued = start;
    Optional<UUID> firstRunning = start;
    do {
      Optional<UUID> from = continued;
      ErasePart batch =
          operate(
              handle ->
                  act(handle, "erase", act)
                      .bind("user", what.userId())
                      .bind("tenant", what.scope().tenant())
                      .bind("project", what.scope().project())
                      .bind("dry_run", dryRun)
                      .bind("continued", from)
                      .map((row, context) -> ErasePart.read(row, !dryRun))
                      .one());
      if (total.running() == 0) {
        firstRunning = from;
      }
      total = total.plus(batch.result());
      continued = batch.upto();
    } while (continued.isPresent() && !Thread.currentThread().isInterrupted());
    return new ErasePart(total, firstRunning);
  }

  /** Waits until running operations may have ended; returns false if the thread is interrupted. */
  private static boolean pause() {
    try {
      TimeUnit.NANOSECONDS.sleep(ERASE_PAUSE.toNanos());
      return true;
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Returns the newest actions of operators, newest first. */
  public List<AuditEntry> audit(AuditQuery wanted) {
    return operate(
        handle ->
            query(handle, "audit")
                .bind("operation", wanted.operationId())
                .bind("key", wanted.key())
                .bind("tenant", wanted.scope().tenant())
                .bind("project", wanted.scope().project())
                .bind("user", wanted.userId())
                .bind("actor", wanted.actor())
                .bind("act", wanted.act())
                .bind("since", wanted.since().map(Administration::utc))
                .bind("until", wanted.until().map(Administration::utc))
                .bind("before", wanted.before())
                .bind("limit", wanted.limit())
                .map((row, context) -> Rows.auditEntry(row))
                .list());
  }

  private <T> T operate(Function<Handle, T> work) {
    return database.run(Right.OPERATE, work);
  }

  private Query query(Handle handle, String name) {
    return handle.createQuery(database.sql(name));
  }

  private Query queryOfUser(Handle handle, String name, String key, Scope scope, UUID userId) {
    return query(handle, name)
        .bind("key", key)
        .bind("tenant", scope.tenant())
        .bind("project", scope.project())
        .bind("user", userId);
  }

  private Query act(Handle handle, String name, Act act) {
    return query(handle, name).bind("actor", act.actor()).bind("reason", act.reason());
  }

  private static OffsetDateTime utc(Instant time) {
    return time.atOffset(ZoneOffset.UTC);
  }
}
