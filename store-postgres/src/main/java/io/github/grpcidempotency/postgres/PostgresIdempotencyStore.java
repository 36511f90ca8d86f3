package io.github.grpcidempotency.postgres;

import static java.util.stream.Collectors.toSet;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.internal.check.StartupCheck;
import io.github.grpcidempotency.postgres.internal.claim.RecordFinder;
import io.github.grpcidempotency.postgres.internal.claim.Reservation;
import io.github.grpcidempotency.postgres.internal.claim.ReservationAttempt;
import io.github.grpcidempotency.postgres.internal.database.Contention;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.database.ServerName;
import io.github.grpcidempotency.postgres.internal.database.StoreConnections;
import io.github.grpcidempotency.postgres.internal.database.StoreSettings;
import io.github.grpcidempotency.postgres.internal.operation.PostgresOperationCatalog;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.SqlFile;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.postgres.internal.transaction.ClaimAtCommit;
import io.github.grpcidempotency.postgres.internal.transaction.HandlerTransaction;
import io.github.grpcidempotency.postgres.internal.transaction.TransactionAttempt;
import io.github.grpcidempotency.postgres.internal.watch.PostgresCompletionWatch;
import io.github.grpcidempotency.store.BatchCounts;
import io.github.grpcidempotency.store.FailurePhase;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.spi.Claim;
import io.github.grpcidempotency.store.spi.ClaimRequest;
import io.github.grpcidempotency.store.spi.ClaimResult;
import io.github.grpcidempotency.store.spi.CompletionWatch;
import io.github.grpcidempotency.store.spi.OperationCatalog;
import io.github.grpcidempotency.store.spi.OperationStore;
import io.github.grpcidempotency.store.spi.RecordedProcedure;
import io.github.grpcidempotency.store.spi.StoreTransaction;
import io.github.grpcidempotency.store.spi.TransactionalStore;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jdbi.v3.core.JdbiException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records operations in the service's own PostgreSQL (15 or later), in the table that {@link
 * IdempotencySchema} migrates. It needs a pool of the application's role. Row-level security must
 * apply to that role.
 *
 * <p>The store has connections of its own, up to four on each server, so that no handler keeps it
 * from recording answers and renewing leases. It derives them from the service's HikariCP pool:
 * {@link #close} the store before that pool. Handlers' transactions use the service's pool.
 *
 * <p>A claim and a completion take one round trip each. A replay with its outbox status takes two,
 * or one if the call {@linkplain ClaimRequest#retry() announces that it is a retry}, and writes
 * nothing. Thread-safe.
 */
public final class PostgresIdempotencyStore
    implements TransactionalStore, OperationStore, AutoCloseable {
  private static final Logger logger = LoggerFactory.getLogger(PostgresIdempotencyStore.class);

  /** The maximum number of times that the store is checked if connections break. */
  private static final int MAX_CHECKS = 5;

  private static final Duration PAUSE_BETWEEN_CHECKS = Duration.ofMillis(500);

  /** The name that the host may show for the transaction of a call without a key. */
  private static final String WITHOUT_KEY = "a call without an idempotency key";

  private final StoreSettings settings;
  private final RecordDatabase database;
  private final PostgresCompletionWatch watch;

  private PostgresIdempotencyStore(StoreSettings settings, Duration lease) {
    this.settings = settings;
    this.database = new RecordDatabase(settings, lease);
    this.watch =
        new PostgresCompletionWatch(settings.connections(), settings.schema(), settings.notifies());
  }

  /** Returns a builder of a store on a pool of the application's role. */
  public static Builder builder(DataSource dataSource) {
    return new Builder(dataSource);
  }

  @Override
  public void verify(Collection<RecordedProcedure> procedures, Optional<String> shard) {
    check(startup -> startup.run(procedures, shard));
  }

  @Override
  public Set<ByteString> answerBeginnings(String procedure) {
    return Set.copyOf(
        database.inStore(
            "read the beginnings of answers",
            connection ->
                StatementBatch.runForRows(
                    connection,
                    SqlFile.load("check/answer_beginnings", Map.of("schema", settings.schema())),
                    values -> values.bind("procedure", procedure),
                    row -> ByteString.copyFrom(row.getBytes(1)))));
  }

  @Override
  public void verifyTransactions() {
    check(StartupCheck::runTransactions);
  }

  /** Repeats the check a few times if a connection broke, because a failover may be under way. */
  private void check(Consumer<StartupCheck> checks) {
    boolean cut = false;
    for (int tries = 1; ; tries++) {
      StoreException failure;
      try {
        checks.accept(
            new StartupCheck(database, lease -> new PostgresIdempotencyStore(settings, lease)));
        return;
      } catch (JdbiException failed) {
        failure =
            database.failed(
                "could not check the store at start-up", failed, FailurePhase.HANDLER_DONE);
      } catch (StoreException failed) {
        failure = failed;
      }
      cut |= Failures.isCut(failure.failureCause());
      if (!cut || tries == MAX_CHECKS || !failure.failureCause().isTemporary()) {
        throw failure;
      }
      logger.warn(
          "a connection to the database broke while the store was checked, for example during a"
              + " failover; the check is repeated",
          failure);
      LockSupport.parkNanos(PAUSE_BETWEEN_CHECKS.toNanos());
    }
  }

  @Override
  public ClaimResult claim(ClaimRequest request) {
    ClaimResult result = new ReservationAttempt(database, request).run();
    if (result instanceof ClaimResult.Won) {
      settings.connections().retain(); // until the claim is closed
    }
    return result;
  }

  @Override
  public ClaimResult claimInTransaction(ClaimRequest request) {
    return new TransactionAttempt(database, request).run();
  }

  @Override
  public Claim claimAtCommit(ClaimRequest request) {
    try {
      return ClaimAtCommit.open(database, request);
    } catch (JdbiException failure) {
      throw database.failed("could not open a transaction", failure, FailurePhase.NOTHING_SENT);
    }
  }

  @Override
  public Optional<ClaimResult> find(IdempotencyKey key, RecordedProcedure procedure) {
    return database.inStore(
        "read the record", () -> new RecordFinder(database, key, procedure).findWithTransactions());
  }

  @Override
  public OperationCatalog operations(Collection<RecordedProcedure> procedures) {
    return PostgresOperationCatalog.open(database, procedures);
  }

  @Override
  public Instant retain(ClaimRequest request, ClaimResult.Recorded recorded) {
    return database.inStore(
        "retain the record",
        connection ->
            StatementBatch.run(
                    connection,
                    database.sql().retain,
                    query -> query.bindOperation(request, recorded.operationId()),
                    row -> row.getObject("expires", OffsetDateTime.class).toInstant())
                .orElse(recorded.expires()));
  }

  @Override
  public boolean bindsThreads() {
    return settings.hosts().isPresent();
  }

  @Override
  public StoreTransaction begin(Optional<Caller> caller) {
    return database.inStore(
        "open a transaction",
        () ->
            HandlerTransaction.openWith(
                database,
                WITHOUT_KEY,
                connection ->
                    StatementBatch.run(
                        connection,
                        database.sql().begin,
                        values -> values.bindCaller(caller),
                        row -> row.getString(1))));
  }

  @Override
  public CompletionWatch watch(Consumer<IdempotencyKey> ended) {
    return watch.subscribe(ended);
  }

  @Override
  public Set<UUID> renew(Collection<Claim> claims) {
    List<Claim> reservations = claims.stream().filter(Reservation.class::isInstance).toList();
    Set<UUID> renewed =
        reservations.isEmpty()
            ? Set.of()
            : database.inStore("renew leases", () -> renewReservations(reservations));
    return claims.stream()
        .filter(claim -> isOwned(claim, renewed))
        .map(Claim::operationId)
        .collect(toSet());
  }

  /**
   * A transaction needs no lease. A reservation that its handler's own transaction has completed
   * meanwhile was not renewed, but does not count as lost.
   */
  private static boolean isOwned(Claim claim, Set<UUID> renewed) {
    return !(claim instanceof Reservation reservation)
        || reservation.joined().isUsed()
        || renewed.contains(claim.operationId());
  }

  private Set<UUID> renewReservations(List<Claim> reservations) {
    return Set.copyOf(
        Contention.retrying(
            () ->
                settings
                    .connections()
                    .useForRenewal(
                        connection ->
                            StatementBatch.runForRows(
                                connection,
                                database.sql().renew,
                                values -> bind(values, reservations),
                                row -> row.getObject(1, UUID.class)))));
  }

  private Parameters bind(Parameters values, List<Claim> reservations) {
    return values
        .bind("ids", reservations.stream().map(Claim::operationId).toArray(UUID[]::new))
        .bind("attempts", reservations.stream().map(Claim::attempt).toArray(Integer[]::new))
        .bind("lease_millis", lease().toMillis());
  }

  @Override
  public BatchCounts batches() {
    return database.batches().counts();
  }

  @Override
  public Duration lease() {
    return database.lease();
  }

  /**
   * Closes the connections that the store has derived from the service's pool. Reserved handlers
   * that still run keep these connections until they end, so that their leases are renewed and
   * their answers recorded.
   */
  @Override
  public void close() {
    watch.close();
    settings.connections().close();
  }

  StoreConnections connections() {
    return settings.connections();
  }

  String schema() {
    return settings.schema();
  }

  /** Settings of the store. Not thread-safe. */
  public static final class Builder {
    private final DataSource dataSource;
    private Optional<DataSource> connections = Optional.empty();
    private String schema = IdempotencySchema.DEFAULT_NAME;
    private Duration lease = Duration.ofSeconds(30);
    private Supplier<String> serverName = ServerName::ofThisProcess;
    private Optional<HostTransactions> hostTransactions = Optional.empty();
    private boolean listen = true;
    private boolean timeLines = true;
    private int smallestBatch = 2;
    private UnaryOperator<DataSource> wrapper = UnaryOperator.identity();

    private Builder(DataSource dataSource) {
      this.dataSource = dataSource;
    }

    /** Sets the schema of the table; {@code idempotency} by default. */
    public Builder schema(String name) {
      this.schema = IdempotencySchema.checkName(name);
      return this;
    }

    /**
     * Sets the pool for the store's own statements: claims, answers and look-ups of reserved calls,
     * renewals, {@code LISTEN} and sweeps. By default, the store derives this pool from the
     * service's HikariCP pool. For another kind of pool, or a data source that routes, it is
     * required: at least four connections in autocommit mode, to the same database as the same
     * role, which neither handlers nor a transaction manager use. The store does not close it.
     */
    public Builder connections(DataSource pool) {
      this.connections = Optional.of(pool);
      return this;
    }

    /**
     * Sets how long a crashed server's call blocks its key; 30 seconds by default. A lease is
     * renewed at every third of its length while the handler runs, so it need not be longer than a
     * slow handler.
     *
     * @throws IllegalArgumentException if it is shorter than 100 milliseconds
     */
    public Builder lease(Duration lease) {
      if (lease.compareTo(Duration.ofMillis(100)) < 0) {
        throw new IllegalArgumentException("the lease must be at least 100 ms, not " + lease);
      }
      this.lease = lease;
      return this;
    }

    /** Sets the name under which this process holds its reservations. */
    Builder serverName(String name) {
      this.serverName = () -> name;
      return this;
    }

    /**
     * Uses transactions of the host for claims, so that handlers can write through {@code
     * JdbcTemplate}, JPA or {@code @Transactional}. By default, claims use transactions on
     * connections of the service's pool.
     *
     * @param transactions the host's transactions, on the same database as the pool
     */
    public Builder hostTransactions(HostTransactions transactions) {
      this.hostTransactions = Optional.of(transactions);
      return this;
    }

    /**
     * Sets whether duplicates that wait for another server's call are notified of its end by {@code
     * LISTEN}; true by default. Set it to false, on all servers of the service, for a database that
     * does not support notifications. Then nothing is notified, and a server with waiting
     * duplicates polls ten times a second. A pooler needs no change of this setting: the store
     * detects the pooler and polls.
     */
    public Builder listen(boolean listen) {
      this.listen = listen;
      return this;
    }

    /**
     * Sets whether a reservation is bound to the time line of the database on which it was made;
     * true by default. If the database replicates asynchronously and fails over while the handler
     * runs, the handler's earlier writes may be lost although the reservation is not. The answer is
     * then not recorded: the outcome is unknown, and a retry runs the handler again once the lease
     * has ended. Pass false for a database that does not report its time line, or if all effects
     * are in other systems.
     */
    public Builder timeLines(boolean timeLines) {
      this.timeLines = timeLines;
      return this;
    }

    /** Sets how many calls are sent as a batch at least; 1 is for tests. */
    Builder smallestBatch(int calls) {
      this.smallestBatch = calls;
      return this;
    }

    /** Wraps both pools, for tests that count connections. */
    Builder through(UnaryOperator<DataSource> pools) {
      this.wrapper = pools;
      return this;
    }

    /**
     * Returns the store. It connects when it is first used.
     *
     * @throws io.github.grpcidempotency.store.SetupException if the store has no connections of its
     *     own: the data source is not a HikariCP pool, and {@link #connections} is not set
     */
    public PostgresIdempotencyStore build() {
      return new PostgresIdempotencyStore(
          new StoreSettings(
              wrapper.apply(dataSource),
              connections
                  .map(StoreConnections::of)
                  .orElseGet(() -> StoreConnections.deriveFrom(dataSource))
                  .through(wrapper),
              hostTransactions,
              ClaimLostException::new,
              schema,
              serverName.get(),
              listen,
              timeLines,
              smallestBatch),
          lease);
    }
  }
}
