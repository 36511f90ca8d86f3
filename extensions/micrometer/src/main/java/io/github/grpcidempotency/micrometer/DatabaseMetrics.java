package io.github.grpcidempotency.micrometer;

import io.github.grpcidempotency.background.DaemonThreads;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.background.RepeatedTask;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.spi.OperationStore;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.spi.UnfinishedWork;
import io.github.grpcidempotency.spi.UnfinishedWork.Backlog;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.slf4j.LoggerFactory;

/**
 * Exports figures of the library's table: the number of rows, and the operations that are in
 * flight, stuck or not swept. Reads one row of figures and no contents. A separate thread reads it,
 * and not the scrape of the metrics, so a slow database does not delay a scrape.
 *
 * <p>If the database fails or does not answer, the gauges are {@code NaN} until it answers again.
 * If it fails, {@code idempotency.database.read.failures} grows. The time of the database is
 * compared with the process's monotonic clock: a difference of a second or more counts as a jump.
 * Every process with a {@code DatabaseMetrics} exports the same figures: use the maximum over the
 * processes, not the sum.
 *
 * <p>Thread-safe.
 */
public final class DatabaseMetrics implements AutoCloseable {
  /** Clocks that are corrected slowly differ by less between two reads. */
  private static final double SMALLEST_JUMP_SECONDS = 1;

  private final RateLimitedLog log =
      RateLimitedLog.of(LoggerFactory.getLogger(DatabaseMetrics.class));
  private final MeterRegistry registry;
  private final DataSource pool;
  private final String sql;
  private final int timeoutSeconds;
  private final long validNanos;
  private final Timer reads;
  private final Counter failures;
  private final Counter clockJumps;
  private final List<Meter> meters;
  private final ScheduledExecutorService timer =
      DaemonThreads.newTimer("idempotency-database-metrics");

  private volatile Optional<Statistics> latest = Optional.empty();
  private volatile Optional<Work> latestWork = Optional.empty();
  private Optional<Statistics> lastAnswer = Optional.empty();

  /** What was found at a time of the process's clock. */
  private record Work(Map<String, Backlog> backlogs, long endedNanos) {}

  private DatabaseMetrics(Builder builder) {
    this.registry = builder.registry;
    this.pool = builder.pool;
    this.sql = Statistics.sql(builder.schema);
    this.timeoutSeconds = Math.toIntExact(Math.max(1, builder.timeout.toSeconds()));
    this.validNanos = builder.every.multipliedBy(2).plus(builder.timeout.multipliedBy(2)).toNanos();
    Tags tags = builder.tags.and(MetricTags.SCHEMA, builder.schema);
    if (!registry.find(MetricName.DATABASE_ROWS.meter()).tags(tags).meters().isEmpty()) {
      throw new IllegalStateException(
          "the registry already has meters of a database with the same tags; add a tag that"
              + " distinguishes the databases, such as shard: "
              + tags);
    }
    Meters named = new Meters(registry, tags);
    this.reads = named.timer(MetricName.DATABASE_READS);
    this.failures = named.counter(MetricName.DATABASE_READ_FAILURES);
    this.clockJumps = named.counter(MetricName.DATABASE_CLOCK_JUMPS);
    this.meters =
        Stream.of(
                Stream.of(reads, failures, clockJumps),
                gauges(named),
                builder.withOutbox.stream().flatMap(procedure -> gauges(named, procedure)))
            .flatMap(some -> some)
            .toList();
    RepeatedTask.of(
            "read the figures of the idempotency table; the gauges are NaN", log, this::read)
        .every(timer, Duration.ZERO, builder.every);
    builder.work.ifPresent(
        work ->
            RepeatedTask.of("find unfinished work; its gauges are NaN", log, () -> read(work))
                .every(timer, Duration.ZERO, builder.every));
  }

  /**
   * Returns a builder.
   *
   * @param pool connects as a role that may call the schema's {@code statistics()}: the
   *     application's role or an operator's role
   * @param schema the schema of the library's table
   */
  public static Builder builder(MeterRegistry registry, DataSource pool, String schema) {
    return new Builder(registry, pool, schema);
  }

  /** Stops reading, and removes the meters from the registry. Does not close the pool. */
  @Override
  public void close() {
    timer.shutdownNow();
    meters.forEach(registry::remove);
  }

  private Stream<Meter> gauges(Meters named) {
    return Stream.of(
        gauge(named, MetricName.DATABASE_ROWS, Statistics::rows),
        gauge(named, MetricName.DATABASE_DEAD_ROWS, Statistics::deadRows),
        gauge(named, MetricName.DATABASE_SIZE, Statistics::bytes),
        gauge(named, MetricName.DATABASE_IN_FLIGHT, Statistics::inFlight),
        gauge(named, MetricName.DATABASE_STUCK, Statistics::stuck),
        gauge(named, MetricName.DATABASE_UNKNOWN, Statistics::unknown),
        gauge(named, MetricName.DATABASE_OLDEST, Statistics::oldestInFlight),
        gauge(named, MetricName.DATABASE_EXPIRED, Statistics::expired),
        gauge(named, MetricName.DATABASE_SWEEP_LAG, Statistics::sweepLag));
  }

  private Stream<Meter> gauges(Meters named, String procedure) {
    return Stream.of(
        named.gauge(MetricName.WORK_UNFINISHED, () -> work(procedure, Backlog::answers), procedure),
        named.gauge(
            MetricName.WORK_OLDEST,
            () -> work(procedure, backlog -> backlog.oldest().toMillis() / 1e3),
            procedure));
  }

  private double work(String procedure, ToDoubleFunction<Backlog> figure) {
    return latestWork
        .filter(read -> now() - read.endedNanos() <= validNanos)
        .flatMap(read -> Optional.ofNullable(read.backlogs().get(procedure)))
        .map(figure::applyAsDouble)
        .orElse(Double.NaN);
  }

  private Meter gauge(Meters named, MetricName name, ToDoubleFunction<Statistics> figure) {
    return named.gauge(name, () -> valid().map(figure::applyAsDouble).orElse(Double.NaN));
  }

  private Optional<Statistics> valid() {
    return latest.filter(read -> now() - read.endedNanos() <= validNanos);
  }

  private long now() {
    return registry.config().clock().monotonicTime();
  }

  private void read() throws SQLException {
    long begun = now();
    try {
      Statistics read = Statistics.read(pool, sql, timeoutSeconds, this::now);
      reads.record(now() - begun, TimeUnit.NANOSECONDS);
      lastAnswer.ifPresent(earlier -> countClockJump(read.clockJumpSince(earlier)));
      lastAnswer = Optional.of(read);
      latest = lastAnswer;
    } catch (Throwable failure) {
      latest = Optional.empty();
      failures.increment();
      throw failure;
    }
  }

  private void read(UnfinishedWork work) {
    try {
      latestWork = Optional.of(new Work(work.read(), now()));
    } catch (Throwable failure) {
      latestWork = Optional.empty();
      failures.increment();
      throw failure;
    }
  }

  private void countClockJump(double seconds) {
    if (Math.abs(seconds) < SMALLEST_JUMP_SECONDS) {
      return;
    }
    clockJumps.increment(Math.abs(seconds));
    log.warn(
        "clock jump",
        null,
        "the database's clock has jumped by %+.1f s; leases and retention use this clock"
            .formatted(seconds));
  }

  /** Settings. Not thread-safe. */
  public static final class Builder {
    private final MeterRegistry registry;
    private final DataSource pool;
    private final String schema;
    private Tags tags = Tags.empty();
    private Optional<UnfinishedWork> work = Optional.empty();
    private List<String> withOutbox = List.of();
    private Duration every = Duration.ofSeconds(30);
    private Duration timeout = Duration.ofSeconds(5);

    private Builder(MeterRegistry registry, DataSource pool, String schema) {
      this.registry = registry;
      this.pool = pool;
      this.schema = schema;
    }

    /** Adds a tag to all meters, such as one that distinguishes the databases of one registry. */
    public Builder tag(String name, String value) {
      this.tags = tags.and(name, value);
      return this;
    }

    /**
     * Also exports the number and the age of the recorded answers whose asynchronous work is not
     * finished, for each procedure with an outbox query. With each read, the store asks the outbox
     * for the oldest of these answers.
     *
     * @param store records the answers; its role sends the outbox queries
     */
    public Builder work(OperationStore store, Procedures procedures) {
      List<RecordedProcedure> asked =
          procedures.all().stream()
              .map(RecordedProcedure::of)
              .filter(procedure -> procedure.outbox().isPresent())
              .toList();
      return work(
          store.unfinishedWork(asked), asked.stream().map(RecordedProcedure::name).toList());
    }

    Builder work(UnfinishedWork found, List<String> procedures) {
      this.work = Optional.of(found);
      this.withOutbox = procedures;
      return this;
    }

    /**
     * Sets the pause between two reads; 30 seconds by default.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public Builder every(Duration pause) {
      this.every = positive(pause);
      return this;
    }

    /**
     * Sets the maximum time for a query of the figures, in full seconds and at least one; 5 seconds
     * by default. The pool's own setting limits the wait for a connection.
     */
    Builder timeout(Duration limit) {
      this.timeout = limit;
      return this;
    }

    /**
     * Registers the meters, and starts to read at once.
     *
     * @throws IllegalArgumentException if the schema's name is not a plain lower case identifier
     * @throws IllegalStateException if the registry already has such meters with the same tags,
     *     because it would silently drop the new ones
     */
    public DatabaseMetrics start() {
      return new DatabaseMetrics(this);
    }

    private static Duration positive(Duration duration) {
      if (duration.isZero() || duration.isNegative()) {
        throw new IllegalArgumentException("the duration must be positive, not " + duration);
      }
      return duration;
    }
  }
}
