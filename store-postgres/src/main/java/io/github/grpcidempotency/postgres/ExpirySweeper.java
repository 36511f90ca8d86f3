package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.background.DaemonThreads;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.background.RepeatedTask;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.internal.event.Events;
import io.github.grpcidempotency.internal.event.Listeners;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.database.StoreConnections;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.SqlFiles;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.proto.Experimental;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.store.StoreException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.JdbiException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes expired records of all users, in small batches. Every server may run one; they skip each
 * other's rows. It only keeps the table small: an expired record counts as absent even before it is
 * deleted.
 *
 * <p>Thread-safe. One daemon thread, started by {@link #start}; close it with the server.
 */
public final class ExpirySweeper implements AutoCloseable {
  private static final Logger logger = LoggerFactory.getLogger(ExpirySweeper.class);

  private final RateLimitedLog log = RateLimitedLog.of(logger);
  private final StoreConnections connections;
  private final Listeners listeners;
  private final String schema;
  private final String sweepSql;
  private final String lagSql;
  private final Duration interval;
  private final int batchSize;
  private final Optional<String> shard;
  private final ScheduledExecutorService timer = DaemonThreads.newTimer("idempotency-sweeper");

  /** The result of one batch. Also reports whether the previous batch was committed. */
  private record Batch(int swept, Optional<String> transaction, boolean beforeKept) {
    static final Batch NONE = new Batch(0, Optional.empty(), true);

    static Batch read(ResultSet row) throws SQLException {
      return new Batch(
          row.getInt("swept"),
          Optional.ofNullable(row.getString("transaction")),
          row.getBoolean("kept"));
    }
  }

  private ExpirySweeper(Builder builder) {
    this.connections = builder.store.connections();
    this.listeners = new Listeners(builder.listeners);
    this.schema = builder.store.schema();
    this.sweepSql = SqlFiles.of(schema).load("maintenance/sweep");
    this.lagSql = SqlFiles.of(schema).load("maintenance/sweep_lag");
    this.interval = builder.interval;
    this.batchSize = builder.batchSize;
    this.shard = builder.shard;
  }

  /** Returns a builder of a sweeper of a store's records, on the store's own connections. */
  public static Builder builder(PostgresIdempotencyStore store) {
    return new Builder(store);
  }

  /**
   * Starts to sweep, now and then after every interval. It starts even if the database cannot be
   * reached.
   *
   * @throws SetupException if the store's role cannot sweep the schema; the message names the
   *     problem
   */
  public ExpirySweeper start() {
    try {
      sweepBatch(Batch.NONE, 0);
    } catch (JdbiException failure) {
      if (Failures.causeOf(failure) == FailureCause.BROKEN) {
        throw new SetupException(
            List.of(
                ("the sweeper%s cannot sweep the schema %s: %s; check the store's schema, the"
                        + " schema's migrations, and the rights of the store's role")
                    .formatted(ofShard(), schema, Failures.asSqlException(failure).getMessage())));
      }
      logger.warn("the sweeper{} cannot reach its database yet", ofShard(), failure);
    }
    String task = "sweep expired idempotency records" + ofShard();
    RepeatedTask.of(task, log, this::sweepAndTell).every(timer, Duration.ZERO, interval);
    return this;
  }

  /**
   * Sweeps now, batch by batch, until no expired record is left except those that other sweeps are
   * deleting. Blocks.
   *
   * @return how many records were deleted
   * @throws StoreException if the database fails, or does not keep the deletions
   */
  public long sweep() {
    long begun = System.nanoTime();
    Optional<Duration> lag;
    long swept;
    try {
      lag = lag();
      swept = sweepAll();
    } catch (Throwable failure) {
      listeners.emit(Events.sweepFailed(failure, shard));
      throw failure;
    }
    Duration took = Duration.ofNanos(System.nanoTime() - begun);
    listeners.emit(Events.swept(swept, took, lag, shard));
    return swept;
  }

  /**
   * Returns how old the oldest expired record is, which only listeners use; empty if the pool's
   * role may not execute {@code statistics()}.
   */
  private Optional<Duration> lag() {
    if (listeners.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          Duration.ofMillis(run(lagSql, values -> values, row -> row.getLong(1)).orElse(0L)));
    } catch (JdbiException untold) {
      logger.debug("the lag of the sweep could not be read", untold);
      return Optional.empty();
    }
  }

  private long sweepAll() {
    long swept = 0;
    Batch batch = Batch.NONE;
    try {
      do {
        batch = sweepBatch(batch, batchSize);
        swept += batch.swept();
      } while (batch.swept() == batchSize && !Thread.currentThread().isInterrupted());
      return swept;
    } catch (JdbiException failure) {
      throw Failures.of("could not sweep expired records", failure);
    }
  }

  /** Stops sweeping, after the current batch. */
  @Override
  public void close() {
    timer.shutdownNow();
  }

  private String ofShard() {
    return shard.map(name -> " of shard " + name).orElse("");
  }

  /**
   * Checks that the previous batch was committed. Otherwise, the sweeper would sweep the same
   * records forever.
   */
  private Batch sweepBatch(Batch before, int records) {
    Batch batch =
        run(
                sweepSql,
                values ->
                    values.bind("batch", records).bind("before", "text", before.transaction()),
                Batch::read)
            .orElseThrow();
    if (before.transaction().isPresent() && !batch.beforeKept()) {
      throw new StoreException("the database rolls back the sweep" + ofShard(), null);
    }
    return batch;
  }

  private <T> Optional<T> run(
      String statement, UnaryOperator<Parameters> values, StatementBatch.RowReader<T> reader) {
    return RecordDatabase.retrying(
        () ->
            connections.use(
                connection -> StatementBatch.run(connection, statement, values, reader)));
  }

  private void sweepAndTell() {
    long swept = sweep();
    logger.debug("swept {} expired idempotency records{}", swept, ofShard());
  }

  /** Settings of a sweeper. Not thread-safe. */
  public static final class Builder {
    private final PostgresIdempotencyStore store;
    private Duration interval = Duration.ofHours(1);
    private int batchSize = 1_000;
    private Optional<String> shard = Optional.empty();
    private final List<IdempotencyListener> listeners = new ArrayList<>();

    private Builder(PostgresIdempotencyStore store) {
      this.store = store;
    }

    /**
     * Sets the pause between two sweeps; an hour by default.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public Builder interval(Duration interval) {
      if (interval.isZero() || interval.isNegative()) {
        throw new IllegalArgumentException("the sweep interval must be positive, not " + interval);
      }
      this.interval = interval;
      return this;
    }

    /** Sets the maximum number of records that one statement deletes; 1,000 by default. */
    Builder batchSize(int records) {
      this.batchSize = records;
      return this;
    }

    /**
     * Names the shard that is swept, for events, metrics and the log; none by default. Use the name
     * that the shard has in {@link io.github.grpcidempotency.shard.Shards}.
     */
    @Experimental
    public Builder shard(String name) {
      this.shard = Optional.of(name);
      return this;
    }

    /**
     * Adds a listener, which is called after every sweep; none by default. Listeners are called in
     * the order in which they were added.
     */
    public Builder listener(IdempotencyListener listener) {
      this.listeners.add(listener);
      return this;
    }

    /** Returns the sweeper, not started yet. */
    public ExpirySweeper build() {
      return new ExpirySweeper(this);
    }
  }
}
