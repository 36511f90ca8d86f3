package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.store.RecordedProcedure;
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
final class RecordDatabase {
  private static final Logger logger = LoggerFactory.getLogger(RecordDatabase.class);

  private static final String NOT_ALONE =
      "the store's pool gave a connection that is not in autocommit mode: either the"
          + " connection is part of a transaction of this thread, or the pool switches autocommit"
          + " off. Build the store with the HostTransactions of that transaction's manager, or"
          + " configure the pool to give connections in autocommit mode";

  private final DataSource pool;
  private final Handles handles;
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
  private final RateLimitedLog log = RateLimitedLog.of(logger);

  RecordDatabase(
      DataSource pool,
      Optional<HostTransactions> hosts,
      Handles handles,
      String schema,
      Duration lease,
      String serverName,
      boolean notifies,
      boolean locks,
      boolean timeLines) {
    this.pool = pool;
    this.hosts = hosts;
    this.handles = handles;
    this.schema = schema;
    this.lease = lease;
    this.serverName = serverName;
    this.notifies = notifies;
    this.locks = locks;
    this.timeLines = timeLines;
    this.timeLineSql = TimeLineSql.of(timeLines);
    this.reservationSql = ReservationSql.of(schema, timeLineSql.current());
  }

  /**
   * Takes a connection from a pool. The caller closes it.
   *
   * @throws ConnectionException if no connection is available
   */
  static Connection connect(DataSource pool) {
    try {
      return pool.getConnection();
    } catch (SQLException failure) {
      throw new ConnectionException(failure);
    }
  }

  /** Returns the pool that its connections come from. */
  DataSource pool() {
    return pool;
  }

  /** Returns the name of the table's schema. */
  String schema() {
    return schema;
  }

  /** Returns how long a claim lasts unless it is renewed. */
  Duration lease() {
    return lease;
  }

  /** Returns the name under which this process holds its reservations. */
  String serverName() {
    return serverName;
  }

  /** Returns whether servers notify each other when an awaited operation ends. */
  boolean notifies() {
    return notifies;
  }

  /** Returns whether transactional calls take advisory locks. */
  boolean locks() {
    return locks;
  }

  /** Returns whether a reservation is bound to the time line of the database. */
  boolean timeLines() {
    return timeLines;
  }

  /** Returns the statements of a procedure. */
  ProcedureSql sql(RecordedProcedure procedure) {
    ProcedureSql known = procedureSql.get(procedure.name());
    return known != null
        ? known
        : procedureSql.computeIfAbsent(
            procedure.name(),
            name -> new ProcedureSql(procedure, schema, boundaries(), notifies, timeLineSql));
  }

  /** Returns the statements on reservations. */
  ReservationSql reservationSql() {
    return reservationSql;
  }

  /** Returns the host's transactions, if the store uses them. */
  Optional<HostTransactions> hosts() {
    return hosts;
  }

  /**
   * Returns the host's transaction of the current thread.
   *
   * @throws IllegalStateException if the thread has no transaction of the host
   */
  HostTransaction currentOfHost() {
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
  String beginSql() {
    return SqlFile.load("transaction/begin", Map.of("begin", boundaries().begin()));
  }

  /**
   * Takes a connection for a transaction whose first statements were not sent yet.
   *
   * @param name the name that the host may show for the transaction
   * @throws JdbiException if no connection is available; a {@link ConnectionException} if the
   *     database was not reached
   */
  HandlerTransaction open(String name) {
    return hosts.isPresent()
        ? HostedTransaction.begin(this, hosts.get(), handles, name)
        : new OpenTransaction(this, connectAlone(), handles);
  }

  /**
   * Takes a connection for a transaction whose first statements are sent with the handler's first
   * statement.
   *
   * @param name the name that the host may show for the transaction
   * @throws JdbiException if no connection is available; a {@link ConnectionException} if the
   *     database was not reached
   */
  HandlerTransaction openLate(String name) {
    return hosts.isPresent()
        ? HostedTransaction.begin(this, hosts.get(), handles, name)
        : OpenTransaction.late(this, connectAlone(), handles);
  }

  /** Takes a connection that is not part of a transaction. */
  private Connection connectAlone() {
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
  <T> T inStore(String what, Function<Connection, T> work) {
    try {
      return onConnection(work);
    } catch (JdbiException failure) {
      throw Failures.of("could not " + what, failure);
    }
  }

  /**
   * Runs work on one connection, and repeats it after a conflict with another transaction. The work
   * is never part of a transaction that the current thread already has.
   *
   * @throws JdbiException if the database fails; a {@link ConnectionException} if it was not
   *     reached
   */
  <T> T onConnection(Function<Connection, T> work) {
    Supplier<T> statements = () -> Contention.retrying(() -> once(work));
    return hosts.flatMap(HostTransactions::current).isPresent()
        ? OwnThread.call(statements)
        : statements.get();
  }

  private <T> T once(Function<Connection, T> work) {
    try (Connection connection = connectAlone()) {
      return work.apply(connection);
    } catch (SQLException failure) {
      throw new CloseException("could not return a connection to the store's pool", failure);
    }
  }

  /**
   * Warns that an outbox query failed, for an operation if the query was for one only. Does not
   * warn if the database cannot be reached, because then the query did not cause the failure.
   */
  void statusUnknown(
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
  void unreferred(RecordedProcedure procedure, UUID operationId) {
    log.warn(
        procedure.name() + " unreferred",
        null,
        ("%s: the resource of operation %s does not exist, or was deleted meanwhile. The"
                + " operation is recorded without a reference to the resource, so retries get no"
                + " idempotency-status")
            .formatted(procedure.name(), operationId));
  }
}
