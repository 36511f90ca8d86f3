package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.postgres.internal.database.ServerName;
import io.github.grpcidempotency.postgres.internal.database.StoreConnections;
import io.github.grpcidempotency.postgres.internal.database.StoreSettings;
import io.github.grpcidempotency.postgres.spi.HostTransactions;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.OperationStore;
import io.github.grpcidempotency.spi.TransactionalStore;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

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
public abstract sealed class PostgresIdempotencyStore
    implements TransactionalStore, OperationStore, AutoCloseable permits PostgresStore {
  PostgresIdempotencyStore() {}

  /** Returns a builder of a store on a pool of the application's role. */
  public static Builder builder(DataSource dataSource) {
    return new Builder(dataSource);
  }

  /**
   * Closes the connections that the store has derived from the service's pool. Reserved handlers
   * that still run keep these connections until they end, so that their leases are renewed and
   * their answers recorded.
   */
  @Override
  public abstract void close();

  abstract StoreConnections connections();

  abstract String schema();

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
      return new PostgresStore(
          new StoreSettings(
              wrapper.apply(dataSource),
              connections
                  .map(StoreConnections::of)
                  .orElseGet(() -> StoreConnections.deriveFrom(dataSource))
                  .through(wrapper),
              hostTransactions,
              schema,
              serverName.get(),
              listen,
              timeLines,
              smallestBatch),
          lease);
    }
  }
}
