package io.github.grpcidempotency.postgres.internal.operation;

import com.google.common.primitives.Longs;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.github.grpcidempotency.background.DaemonThreads;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.background.RepeatedTask;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.internal.database.StoreConnections;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.LockId;
import io.github.grpcidempotency.postgres.internal.sql.SqlFiles;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.spi.CompletionWatch;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jdbi.v3.core.JdbiException;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Detects when operations of other servers end, for all engines of a store. It uses one of the
 * store's connections in two ways: {@code LISTEN}, and a query for all watched operations, every
 * second and whenever an operation is added. A pooler loses notifications. The watch detects a
 * pooler if the answering backend is not the one that the driver knows, or if a notification that
 * the watch sends to itself does not arrive. Then, and also if it is configured not to listen, the
 * watch polls ten times a second instead.
 *
 * <p>One daemon thread, which starts with the first watched operation. When no operation has been
 * watched for a while, the thread returns its connection and ends, because a listener that does not
 * read fills the database's notification queue.
 */
public final class PostgresCompletionWatch implements AutoCloseable {
  private static final Logger logger = LoggerFactory.getLogger(PostgresCompletionWatch.class);
  private static final Duration TICK = Duration.ofMillis(50);
  private static final Duration POLL_WHEN_NOTIFIED = Duration.ofSeconds(1);
  private static final Duration POLL_OTHERWISE = Duration.ofMillis(100);
  private static final Duration ECHO_LIMIT = Duration.ofMillis(500);
  private static final Duration AFTER_OUTAGE = Duration.ofSeconds(1);
  private static final Duration IDLE_LIMIT = Duration.ofSeconds(5);

  private final StoreConnections connections;

  /** The schema's name, because no longer name fits if that name is as long as possible. */
  private final String channel;

  private final String announceSql;
  private final String inFlightSql;
  private final boolean listens;
  private final Map<Long, Watched> watched = new ConcurrentHashMap<>();
  private final Set<Long> unannounced = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean added = new AtomicBoolean();

  /** Whether the thread runs. */
  @GuardedBy("this")
  private boolean running;

  private volatile boolean closed;

  /** An operation, and the engines that wait for its end. */
  private record Watched(IdempotencyKey key, Set<Subscription> by) {}

  /** What one engine watches. */
  private final class Subscription implements CompletionWatch {
    private final Consumer<IdempotencyKey> ended;

    Subscription(Consumer<IdempotencyKey> ended) {
      this.ended = ended;
    }

    @Override
    public void add(IdempotencyKey key) {
      watch(key, this);
    }

    @Override
    public void remove(IdempotencyKey key) {
      forget(LockId.of(key), this);
    }

    @Override
    public void close() {
      watched.keySet().forEach(lock -> forget(lock, this));
    }
  }

  /**
   * Creates the watch.
   *
   * @param listens whether to use {@code LISTEN}
   */
  public PostgresCompletionWatch(StoreConnections connections, String schema, boolean listens) {
    this.connections = connections;
    this.channel = schema;
    this.listens = listens;
    this.announceSql = SqlFiles.of(schema).load("maintenance/announce_waits");
    this.inFlightSql = SqlFiles.of(schema).load("maintenance/in_flight");
  }

  /**
   * Listens and notifies once, as a watch does, on a connection that could receive the
   * notification.
   */
  public static void tryListening(Connection connection, String schema) {
    run(
        connection,
        isBackendOf(connection)
            ? "LISTEN \"%1$s\"; SELECT pg_notify('%1$s', ''); UNLISTEN *".formatted(schema)
            : "SELECT pg_notify('%s', '')".formatted(schema));
  }

  private static void run(Connection connection, String statements) {
    StatementBatch.run(connection, statements, values -> values);
  }

  private static PGConnection driverOf(Connection connection) {
    try {
      return connection.unwrap(PGConnection.class);
    } catch (SQLException failure) {
      throw Failures.asJdbiException(failure);
    }
  }

  /**
   * Returns whether the driver is connected to the backend that answers, so that no pooler is
   * between.
   */
  private static boolean isBackendOf(Connection connection) {
    int answering =
        StatementBatch.run(
                connection, "SELECT pg_backend_pid()", values -> values, row -> row.getInt(1))
            .orElseThrow();
    return answering == driverOf(connection).getBackendPID();
  }

  /**
   * Returns the watch of one engine.
   *
   * @param ended is called on the watch's thread; must not block
   */
  public CompletionWatch subscribe(Consumer<IdempotencyKey> ended) {
    return new Subscription(ended);
  }

  /** Ends the watch of every engine. */
  @Override
  public void close() {
    closed = true;
  }

  private synchronized void watch(IdempotencyKey key, Subscription by) {
    Long lock = LockId.of(key);
    Watched known =
        watched.computeIfAbsent(lock, absent -> new Watched(key, ConcurrentHashMap.newKeySet()));
    if (known.by().add(by)) {
      unannounced.add(lock);
      added.set(true);
    }
    if (!running) {
      DaemonThreads.named("idempotency-watch").newThread(this::run).start();
      running = true;
    }
  }

  private synchronized void forget(Long lock, Subscription by) {
    Watched known = watched.get(lock);
    if (known != null && known.by().remove(by) && known.by().isEmpty()) {
      watched.remove(lock);
      unannounced.remove(lock);
    }
  }

  private void run() {
    RepeatedTask watching =
        RepeatedTask.of(
            "watch other servers' operations", RateLimitedLog.of(logger), this::watchUntilIdle);
    while (isNeeded()) {
      if (!watching.succeeds()) {
        LockSupport.parkNanos(AFTER_OUTAGE.toNanos());
      }
    }
  }

  /** Returns whether there is an operation to watch. Otherwise, the thread ends. */
  private synchronized boolean isNeeded() {
    running = !watched.isEmpty() && !closed;
    return running;
  }

  private void watchUntilIdle() {
    try {
      connections.use(this::watchUntilIdle);
    } catch (JdbiException failure) {
      if (!closed) {
        throw failure;
      }
    }
  }

  private boolean watchUntilIdle(Connection connection) {
    PGConnection driver = driverOf(connection);
    boolean notified = listens && listen(connection, driver);
    Duration pollInterval = notified ? POLL_WHEN_NOTIFIED : POLL_OTHERWISE;
    unannounced.addAll(watched.keySet());
    long lastPoll = System.nanoTime();
    long lastWork = lastPoll;
    while (!closed && System.nanoTime() - lastWork < IDLE_LIMIT.toNanos()) {
      boolean asked = added.getAndSet(false);
      announce(connection, notified);
      if (asked || System.nanoTime() - lastPoll > pollInterval.toNanos()) {
        lastPoll = System.nanoTime();
        poll(connection);
      }
      if (!watched.isEmpty()) {
        lastWork = System.nanoTime();
      }
      receive(driver, TICK);
    }
    if (listens) {
      run(connection, "UNLISTEN *");
    }
    return true;
  }

  private boolean listen(Connection connection, PGConnection driver) {
    if (!isBackendOf(connection)) {
      return false;
    }
    String echo = UUID.randomUUID().toString();
    run(connection, "LISTEN \"%1$s\"".formatted(channel));
    StatementBatch.run(
        connection,
        "SELECT pg_notify(:channel, :echo)",
        values -> values.bind("channel", channel).bind("echo", echo));
    long end = System.nanoTime() + ECHO_LIMIT.toNanos();
    while (System.nanoTime() < end) {
      if (receive(driver, ECHO_LIMIT).contains(echo)) {
        return true;
      }
    }
    return false;
  }

  /** Tells other servers that the end of operations is awaited. */
  private void announce(Connection connection, boolean notified) {
    List<Long> locks = List.copyOf(unannounced);
    if (notified && !locks.isEmpty()) {
      StatementBatch.run(
          connection, announceSql, values -> values.bind("locks", locks.toArray(Long[]::new)));
    }
    locks.forEach(unannounced::remove);
  }

  private List<String> receive(PGConnection driver, Duration maxWait) {
    List<String> received;
    try {
      received =
          Stream.of(driver.getNotifications((int) maxWait.toMillis()))
              .map(PGNotification::getParameter)
              .toList();
    } catch (SQLException failure) {
      throw Failures.asJdbiException(failure);
    }
    received.stream().map(Longs::tryParse).filter(Objects::nonNull).forEach(this::notifyEnded);
    return received;
  }

  private void poll(Connection connection) {
    List<IdempotencyKey> asked = watched.values().stream().map(Watched::key).toList();
    if (asked.isEmpty()) {
      return;
    }
    List<Long> running =
        StatementBatch.runForRows(
            connection, inFlightSql, values -> values.bindKeys(asked), row -> row.getLong(1));
    asked.stream()
        .map(LockId::of)
        .filter(lock -> !running.contains(lock))
        .forEach(this::notifyEnded);
  }

  private void notifyEnded(long lock) {
    Watched operation = watched.get(lock);
    if (operation != null) {
      unannounced.add(lock);
      operation.by().forEach(engine -> engine.ended.accept(operation.key()));
    }
  }
}
