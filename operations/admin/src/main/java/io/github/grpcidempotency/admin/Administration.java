package io.github.grpcidempotency.admin;

import io.github.grpcidempotency.postgres.IdempotencySchema;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;

/**
 * What operators do with the records of calls: find, list, free and forget them. It calls functions
 * that the schema's owner grants to roles of theirs, with {@code grant_operator_to(role)} and, for
 * {@link #contents}, {@code grant_contents_to(role)}. No such role has a right on a table. Every
 * act leaves a row in an audit table that it cannot change, and so does one that is refused; a dry
 * run leaves none.
 *
 * <p>Every method throws {@link AdministrationException} if the role lacks the right, the schema is
 * missing or too old, or the database cannot be reached; the message says which, and what to do.
 *
 * <p>Thread-safe; blocks on the database. Each method runs one transaction ({@link #sweep} and
 * {@link #contents} run several) and keeps nothing in the session, so a pooler may stand in
 * between, if the URL says {@code prepareThreshold=0}.
 */
public final class Administration {
  private static final int SWEEP_BATCH = 1_000;
  private static final int MAX_AUDIT = 10_000;
  private static final Pattern SCHEMA = Pattern.compile("[a-z_][a-z0-9_]{0,62}");

  private final OperatorDatabase database;

  /** A row of a list: an operation and its place, or only where the next page begins. */
  private record Place(Optional<OperationRecord> operation, String token) {
    static Place read(ResultSet row) throws SQLException {
      return new Place(
          row.getObject("id") == null ? Optional.empty() : Optional.of(Rows.operation(row)),
          row.getString("continue_with"));
    }
  }

  private Administration(OperatorDatabase database) {
    this.database = database;
  }

  /** Opens the administration of the schema {@link IdempotencySchema#DEFAULT_NAME}. */
  public static Administration on(DataSource operator) {
    return on(operator, IdempotencySchema.DEFAULT_NAME);
  }

  /**
   * Opens the administration of a schema. Nothing is asked of the database yet.
   *
   * @param operator connects as the operator's role
   * @param schema the library's schema, {@code idempotency} by default
   * @throws IllegalArgumentException if the name is not a plain lower case identifier
   */
  public static Administration on(DataSource operator, String schema) {
    if (!SCHEMA.matcher(schema).matches()) {
      throw new IllegalArgumentException(
          "a schema name is a plain lower case identifier, not \"" + schema + "\"");
    }
    return new Administration(new OperatorDatabase(operator, schema));
  }

  /**
   * Returns an operation by its id. A transactional call has none before it commits: see {@link
   * #isRunning}.
   */
  public Optional<OperationRecord> find(UUID id) {
    return operate(
        handle ->
            query(handle, "find")
                .bind("id", id)
                .map((row, context) -> Rows.operation(row))
                .findOne());
  }

  /**
   * Returns the operations of a key, one per user: the newest 1,000. A transactional call has none
   * before it commits: see {@link #isRunning}.
   *
   * @param key the key as the client sends it, in its canonical form
   * @param namespace tenant and project, as {@code acme/apollo}; empty for a key outside of both
   */
  public List<OperationRecord> findKey(String key, String namespace) {
    return operate(
        handle ->
            query(handle, "find_key")
                .bind("key", stored(key, namespace))
                .map((row, context) -> Rows.operation(row))
                .list());
  }

  /**
   * Returns whether a call with this key runs now: by a reservation whose lease lives, or in a
   * transaction, which has no record before it commits. Of the latter nothing else can be known,
   * and it can be asked by key and user together only.
   *
   * @param key the key as the client sends it, in its canonical form
   * @param namespace tenant and project, as {@code acme/apollo}; empty for a key outside of both
   */
  public boolean isRunning(String key, String namespace, UUID userId) {
    return operate(
        handle ->
            query(handle, "is_running")
                .bind("key", stored(key, namespace))
                .bind("user", userId)
                .mapTo(Boolean.class)
                .one());
  }

  /**
   * Lists a page of operations: those that were created last first, or those that expire soonest
   * first, if the query asks for what expires or has expired.
   */
  public OperationPage list(OperationQuery query) {
    return operate(handle -> page(handle, query));
  }

  private OperationPage page(Handle handle, OperationQuery query) {
    List<OperationRecord> operations = new ArrayList<>();
    Optional<String> last = Optional.empty();
    boolean examinedOnly = false;
    for (Place place :
        query(handle, "list")
            .bindArray(
                "states", String.class, query.states().stream().map(OperationState::word).toList())
            .bind("procedure", query.procedure())
            .bind("namespace", query.namespace())
            .bind("user", query.userId())
            .bind("older_than_millis", query.olderThan().map(Duration::toMillis))
            .bind("expiring_within_millis", query.expiringWithin().map(Duration::toMillis))
            .bind("after", query.after())
            .bind("limit", query.limit())
            .map((row, context) -> Place.read(row))
            .list()) {
      place.operation().ifPresent(operations::add);
      examinedOnly = place.operation().isEmpty();
      last = Optional.of(place.token());
    }
    boolean more = examinedOnly || operations.size() == query.limit();
    return new OperationPage(operations, more ? last : Optional.empty());
  }

  /**
   * Returns what is recorded of an operation's outcome. It needs a right of its own, and is audited
   * in a transaction of its own before anything is read.
   *
   * @return empty if there is no such operation, or no outcome
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
   * Deletes a reservation, so that the next call with its key runs. Calls that wait for it go on.
   *
   * <p>Its owner lives while its lease does, unless it has marked the outcome as unknown; the
   * database decides with the row locked, so that the owner cannot renew or record in between. An
   * owner whose lease has ended may still run: it finds out when it records, and its answer is
   * lost.
   *
   * @param evenIfLive frees it even if its owner lives; the owner's answer is then not recorded,
   *     and a retry may run beside it
   * @param dryRun only says what would happen
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
   * Deletes a recorded outcome: the next call with its key runs the handler again.
   *
   * @param dryRun only says what would happen
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

  /** Returns the table in numbers. Cheap enough to be asked every few seconds. */
  public Statistics statistics() {
    return operate(
        handle -> query(handle, "statistics").map((row, context) -> Rows.statistics(row)).one());
  }

  /**
   * Deletes expired records until none is left, in batches of 1,000. Each batch is a transaction,
   * and leaves a row in the audit table.
   *
   * @return how many were deleted
   */
  public long sweep(Act act) {
    long swept = 0;
    int batch;
    do {
      batch =
          operate(
              handle ->
                  act(handle, "sweep", act).bind("batch", SWEEP_BATCH).mapTo(Integer.class).one());
      swept += batch;
    } while (batch == SWEEP_BATCH && !Thread.currentThread().isInterrupted());
    return swept;
  }

  /**
   * Returns the newest acts before another one, the newest first.
   *
   * @param operationId only those about this operation
   * @param before only those with a lower number
   * @param limit at most so many, from 1 to 10,000
   * @throws IllegalArgumentException if the limit is not in this range
   */
  public List<AuditEntry> audit(Optional<UUID> operationId, Optional<Long> before, int limit) {
    if (limit < 1 || limit > MAX_AUDIT) {
      throw new IllegalArgumentException("the audit is read 1 to 10,000 at a time, not " + limit);
    }
    return operate(
        handle ->
            query(handle, "audit")
                .bind("operation", operationId)
                .bind("before", before)
                .bind("limit", limit)
                .map((row, context) -> Rows.auditEntry(row))
                .list());
  }

  private <T> T operate(Function<Handle, T> work) {
    return database.run(Right.OPERATE, work);
  }

  private Query query(Handle handle, String name) {
    return handle.createQuery(database.sql(name));
  }

  private Query act(Handle handle, String name, Act act) {
    return query(handle, name).bind("actor", act.actor()).bind("reason", act.reason());
  }

  /** As {@code IdempotencyKey.stored()}. */
  private static String stored(String key, String namespace) {
    return namespace.isEmpty() && key.indexOf(':') < 0 ? key : namespace + ":" + key;
  }
}
