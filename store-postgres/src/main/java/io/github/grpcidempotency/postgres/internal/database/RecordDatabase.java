package io.github.grpcidempotency.postgres.internal.database;

import static java.util.stream.Collectors.toMap;

import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.ProcedureSql;
import io.github.grpcidempotency.postgres.internal.sql.SqlFiles;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.spi.FailureRemedy;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.spi.ResourceIdType;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jdbi.v3.core.ConnectionException;
import org.jdbi.v3.core.JdbiException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The connections, the statements and the settings that claims need. Thread-safe. */
public final class RecordDatabase {
  private static final Logger logger = LoggerFactory.getLogger(RecordDatabase.class);

  private static final int MAX_TRIES = 20;
  private static final long MAX_PAUSE_MICROS = 10_000;

  private static final String NOT_ALONE =
      "the service's pool gave a connection that is not in autocommit mode: either the"
          + " connection is part of a transaction of this thread, or the pool switches autocommit"
          + " off. Build the store with the HostTransactions of that transaction's manager, or"
          + " configure the pool to give connections in autocommit mode; Tomcat's pool needs"
          + " jdbcInterceptors=ConnectionState";

  private final StoreSettings settings;
  private final Duration lease;
  private final SqlFiles files;
  private final Map<String, ProcedureSql> procedureSql = new ConcurrentHashMap<>();
  private volatile Map<String, String> resourceColumns = Map.of();
  private final RateLimitedLog log = RateLimitedLog.of(logger);
  private final OperationIds ids = new OperationIds();
  private final Batches batches;
  private final Outage outage;

  /**
   * Creates the database of a store.
   *
   * @param lease how long a claim lasts unless it is renewed
   */
  public RecordDatabase(StoreSettings settings, Duration lease) {
    this.settings = settings;
    this.lease = lease;
    this.files =
        SqlFiles.of(
            settings.schema(),
            settings.hosts().isPresent(),
            settings.notifies(),
            settings.timeLines());
    this.outage = new Outage(settings.connections().pool());
    this.batches =
        new Batches(
            settings.smallestBatch(), StoreConnections.SIZE - 1, settings.connections()::use);
  }

  /** Takes a connection from a pool. The caller closes it. */
  public static Connection connect(DataSource pool) {
    try {
      return pool.getConnection();
    } catch (SQLException failure) {
      throw new ConnectionException(failure);
    }
  }

  public StoreSettings settings() {
    return settings;
  }

  public Duration lease() {
    return lease;
  }

  public OperationIds ids() {
    return ids;
  }

  public Batches batches() {
    return batches;
  }

  public SqlFiles files() {
    return files;
  }

  public ProcedureSql sql(RecordedProcedure procedure) {
    ProcedureSql known = procedureSql.get(procedure.name());
    return known != null
        ? known
        : procedureSql.computeIfAbsent(
            procedure.name(), name -> new ProcedureSql(procedure, idType(procedure), files));
  }

  /**
   * Returns the type of the column for a procedure's resource. Start-up has read the columns,
   * unless the database could not be reached then.
   */
  private ResourceIdType idType(RecordedProcedure procedure) {
    Optional<String> column = procedure.resourceType().map(ResourceType::column);
    if (column.filter(name -> !resourceColumns.containsKey(name)).isPresent()) {
      try {
        onConnection(this::readResourceColumns);
      } catch (JdbiException failure) {
        throw failed(
            "could not read the types of the resource columns", failure, FailurePhase.NOTHING_SENT);
      }
    }
    return column
        .flatMap(name -> Optional.ofNullable(resourceColumns.get(name)))
        .flatMap(ResourceIdType::ofSql)
        .orElse(ResourceIdType.TEXT);
  }

  /** Reads the names of the columns of resource types, and the types of the columns in SQL. */
  public Map<String, String> readResourceColumns(Connection connection) {
    String schema = settings.schema();
    resourceColumns =
        StatementBatch.runForRows(
                connection,
                files.load("check/resource_columns"),
                values -> values.bind("schema", schema),
                row -> Map.entry(row.getString("name"), row.getString("type")))
            .stream()
            .collect(toMap(Map.Entry::getKey, Map.Entry::getValue));
    return resourceColumns;
  }

  /** Takes a connection of the service's pool for a handler. The caller closes it. */
  public Connection connect() {
    return StoreConnections.connect(settings.pool(), NOT_ALONE);
  }

  /**
   * Runs work on one of the store's own connections. Throws every failure of the database as a
   * {@link StoreException}.
   */
  public <T> T inStore(String what, Function<Connection, T> work) {
    return inStore(what, () -> onConnection(work));
  }

  public <T> T inStore(String what, Supplier<T> work) {
    try {
      return work.get();
    } catch (JdbiException failure) {
      throw failed("could not " + what, failure, FailurePhase.HANDLER_DONE);
    }
  }

  /** Returns the store's exception for a failure of the database. */
  public StoreException failed(String message, JdbiException failure, FailurePhase phase) {
    return StoreException.of(phase, outage.causeOf(failure), message).initCause(failure);
  }

  /**
   * Runs work on one of the store's own connections, and repeats it after a conflict with another
   * transaction. The work must not ask for another connection.
   */
  public <T> T onConnection(Function<Connection, T> work) {
    return retrying(() -> settings.connections().use(work));
  }

  /**
   * Retries a transaction that the database has rolled back because of another transaction
   * (SQLSTATE class 40). Nothing of such a transaction remains. Under stricter isolation than
   * {@code READ COMMITTED}, every race has the same result as if the losing transaction had waited
   * for the winner. A transaction that has waited for a locked row until {@code lock_timeout} is
   * not retried.
   */
  public static <T> T retrying(Supplier<T> transaction) {
    for (int tries = 1; ; tries++) {
      try {
        return transaction.get();
      } catch (JdbiException failure) {
        FailureCause cause = Failures.causeOf(failure);
        if (tries == MAX_TRIES
            || Failures.isLockTimeout(failure)
            || cause.remedy(FailurePhase.NOTHING_SENT) != FailureRemedy.TRY_AGAIN) {
          throw failure;
        }
        long longest = Math.min(MAX_PAUSE_MICROS, 500L << Math.min(tries, 10));
        LockSupport.parkNanos(
            TimeUnit.MICROSECONDS.toNanos(ThreadLocalRandom.current().nextLong(1, longest)));
      }
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
