package io.github.grpcidempotency.postgres.internal.database;

import static java.util.stream.Collectors.toMap;

import io.github.grpcidempotency.postgres.HostTransaction;
import io.github.grpcidempotency.postgres.HostTransactions;
import io.github.grpcidempotency.postgres.internal.batch.Batches;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.ProcedureSql;
import io.github.grpcidempotency.postgres.internal.sql.ReservationSql;
import io.github.grpcidempotency.postgres.internal.sql.SqlFile;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.postgres.internal.sql.TimeLineSql;
import io.github.grpcidempotency.postgres.internal.sql.TransactionBoundaries;
import io.github.grpcidempotency.procedure.ResourceType;
import io.github.grpcidempotency.store.FailurePhase;
import io.github.grpcidempotency.store.RecordedProcedure;
import io.github.grpcidempotency.store.ResourceIdType;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.support.RateLimitedLog;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jdbi.v3.core.CloseException;
import org.jdbi.v3.core.ConnectionException;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.transaction.TransactionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The connections, the statements and the settings that claims need. Thread-safe. */
public final class RecordDatabase {
  private static final Logger logger = LoggerFactory.getLogger(RecordDatabase.class);

  private static final String NOT_ALONE =
      "the store's pool gave a connection that is not in autocommit mode: either the"
          + " connection is part of a transaction of this thread, or the pool switches autocommit"
          + " off. Build the store with the HostTransactions of that transaction's manager, or"
          + " configure the pool to give connections in autocommit mode";

  private final DataSource pool;
  private final Handles handles;
  private final Refusals refusals;
  private final Optional<HostTransactions> hosts;
  private final String schema;
  private final Duration lease;
  private final String serverName;
  private final boolean notifies;
  private final boolean locks;
  private final boolean timeLines;
  private final TimeLineSql timeLineSql;
  private final ReservationSql reservationSql;
  private final Map<String, ProcedureSql> procedureSql = new ConcurrentHashMap<>();
  private volatile Map<String, String> resourceColumns = Map.of();
  private final RateLimitedLog log = RateLimitedLog.of(logger);

  private final OperationIds ids = new OperationIds();
  private final Batches batches;

  public RecordDatabase(
      DataSource pool,
      Optional<HostTransactions> hosts,
      Handles handles,
      Refusals refusals,
      String schema,
      Duration lease,
      String serverName,
      boolean notifies,
      boolean locks,
      boolean timeLines,
      int batchConnections,
      int smallestBatch) {
    this.pool = pool;
    this.hosts = hosts;
    this.handles = handles;
    this.refusals = refusals;
    this.schema = schema;
    this.lease = lease;
    this.serverName = serverName;
    this.notifies = notifies;
    this.locks = locks;
    this.timeLines = timeLines;
    this.timeLineSql = TimeLineSql.of(timeLines);
    this.reservationSql = ReservationSql.of(schema, timeLineSql.current());
    this.batches = new Batches(batchConnections, smallestBatch, this::onOneConnection);
  }

  /** Takes a connection from a pool. The caller closes it. */
  public static Connection connect(DataSource pool) {
    try {
      return pool.getConnection();
    } catch (SQLException failure) {
      throw new ConnectionException(failure);
    }
  }

  public DataSource pool() {
    return pool;
  }

  public Handles handles() {
    return handles;
  }

  public Refusals refusals() {
    return refusals;
  }

  public String schema() {
    return schema;
  }

  public OperationIds ids() {
    return ids;
  }

  /** Returns how long a claim lasts unless it is renewed. */
  public Duration lease() {
    return lease;
  }

  public String serverName() {
    return serverName;
  }

  /** Returns whether servers notify each other when an awaited operation ends. */
  public boolean notifies() {
    return notifies;
  }

  /** Returns whether transactional calls take advisory locks. */
  public boolean locks() {
    return locks;
  }

  /** Returns whether a reservation is bound to the time line of the database. */
  public boolean timeLines() {
    return timeLines;
  }

  /** Returns the statements that several calls share. */
  public Batches batches() {
    return batches;
  }

  public ProcedureSql sql(RecordedProcedure procedure) {
    ProcedureSql known = procedureSql.get(procedure.name());
    return known != null
        ? known
        : procedureSql.computeIfAbsent(
            procedure.name(),
            name ->
                new ProcedureSql(
                    procedure, idType(procedure), schema, boundaries(), notifies, timeLineSql));
  }

  /**
   * Returns the type of the column for a procedure's resource. Start-up has read the columns,
   * unless the database could not be reached then.
   */
  private ResourceIdType idType(RecordedProcedure procedure) {
    Optional<String> column = procedure.resourceType().map(ResourceType::column);
    if (column.filter(name -> !resourceColumns.containsKey(name)).isPresent()) {
      try {
        Map<String, String> unused = onConnection(this::readResourceColumns);
      } catch (JdbiException failure) {
        throw new StoreException(
            "could not read the types of the resource columns",
            failure,
            FailurePhase.NOTHING_SENT,
            Failures.causeOf(failure));
      }
    }
    return column
        .flatMap(name -> Optional.ofNullable(resourceColumns.get(name)))
        .flatMap(ResourceIdType::ofSql)
        .orElse(ResourceIdType.TEXT);
  }

  /** Reads the names of the columns of resource types, and the types of the columns in SQL. */
  public Map<String, String> readResourceColumns(Connection connection) {
    String sql = SqlFile.load("check/resource_columns", Map.of("schema", schema));
    resourceColumns =
        StatementBatch.runForAll(
                connection,
                sql,
                values -> values.bind("schema", schema),
                row -> Map.entry(row.getString("name"), row.getString("type")))
            .stream()
            .collect(toMap(Map.Entry::getKey, Map.Entry::getValue));
    return resourceColumns;
  }

  public ReservationSql reservationSql() {
    return reservationSql;
  }

  public Optional<HostTransactions> hosts() {
    return hosts;
  }

  /**
   * Returns the host's transaction of the current thread.
   *
   * @throws IllegalStateException if the thread has no transaction of the host
   */
  public HostTransaction currentOfHost() {
    return hosts
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "the store was built without HostTransactions and cannot find the transaction"
                        + " of this thread: pass the transaction's connection or handle"))
        .current()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "this thread has no transaction of the host, so no answer can be recorded in"
                        + " it: call this method inside the transaction, on the thread that began"
                        + " it"));
  }

  private TransactionBoundaries boundaries() {
    return hosts.isPresent()
        ? TransactionBoundaries.OF_THE_HOST
        : TransactionBoundaries.OF_THE_STORE;
  }

  /** Returns the statement that begins a transaction without a claim. */
  public String beginSql() {
    return SqlFile.load("transaction/begin", Map.of("begin", boundaries().begin()));
  }

  /** Takes a connection that is not part of a transaction. The caller closes it. */
  public Connection connect() {
    Connection connection = connect(pool);
    boolean alone = false;
    try {
      alone = connection.getAutoCommit();
      if (!alone) {
        throw new TransactionException(NOT_ALONE);
      }
      return connection;
    } catch (SQLException failure) {
      throw new TransactionException("could not use a connection of the store's pool", failure);
    } finally {
      if (!alone) {
        giveBack(connection);
      }
    }
  }

  private static void giveBack(Connection connection) {
    try {
      connection.close();
    } catch (SQLException failure) {
      logger.debug("could not return a connection to the store's pool", failure);
    }
  }

  /**
   * Runs work on one connection. Throws every failure of the database as a {@link StoreException}.
   */
  public <T> T inStore(String what, Function<Connection, T> work) {
    return inStore(what, () -> onConnection(work));
  }

  /** Runs work. Throws every failure of the database as a {@link StoreException}. */
  public <T> T inStore(String what, Supplier<T> work) {
    try {
      return work.get();
    } catch (JdbiException failure) {
      throw Failures.of("could not " + what, failure);
    }
  }

  /**
   * Runs work on one connection, and repeats it after a conflict with another transaction. The work
   * is never part of a transaction that the current thread already has.
   */
  public <T> T onConnection(Function<Connection, T> work) {
    return outsideTransactions(() -> Contention.retrying(() -> once(work)));
  }

  /** Runs work as above, but once. */
  private <T> T onOneConnection(Function<Connection, T> work) {
    return outsideTransactions(() -> once(work));
  }

  private <T> T outsideTransactions(Supplier<T> statements) {
    return hosts.flatMap(HostTransactions::current).isPresent()
        ? OwnThread.call(statements)
        : statements.get();
  }

  private <T> T once(Function<Connection, T> work) {
    try (Connection connection = connect()) {
      return work.apply(connection);
    } catch (SQLException failure) {
      throw new CloseException("could not return a connection to the store's pool", failure);
    }
  }

  /**
   * Warns that an outbox query failed, for an operation if the query was for one only. Does not
   * warn if the database cannot be reached, because then the query did not cause the failure.
   */
  public void statusUnknown(
      RecordedProcedure procedure, Optional<UUID> operationId, JdbiException failure) {
    if (!Failures.isCutOff(failure)) {
      log.warn(
          procedure.name() + " outbox",
          failure,
          "the outbox query of %s failed%s, so the status is reported as processing"
              .formatted(
                  procedure.name(), operationId.map(" for operation %s"::formatted).orElse("")));
    }
  }

  /** Warns that a record cannot refer to its resource. */
  public void unreferred(RecordedProcedure procedure, UUID operationId) {
    log.warn(
        procedure.name() + " unreferred",
        null,
        ("%s: the resource of operation %s does not exist, or was deleted meanwhile. The"
                + " operation is recorded without a reference to the resource, so retries get no"
                + " idempotency-status")
            .formatted(procedure.name(), operationId));
  }
}
