package io.github.grpcidempotency.postgres.internal.operation;

import com.google.common.primitives.Longs;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.github.grpcidempotency.background.DaemonThreads;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.background.RepeatedTask;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.internal.database.StoreConnections;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.LockId;
import io.github.grpcidempotency.postgres.internal.sql.SqlFiles;
import io.github.grpcidempotency.spi.CompletionWatch;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
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
  public static void tryListening(Handle handle, String schema) {
    if (isBackendOf(handle, driverOf(handle))) {
      handle.execute("LISTEN \"%1$s\"; SELECT pg_notify('%1$s', ''); UNLISTEN *".formatted(schema));
    } else {
      handle.execute("SELECT pg_notify(?, '')", schema);
    }
  }

  private static PGConnection driverOf(Handle handle) {
    try {
      return handle.getConnection().unwrap(PGConnection.class);
    } catch (SQLException failure) {
      throw Failures.asJdbiException(failure);
    }
  }

  /**
   * Returns whether the driver is connected to the backend that answers, so that no pooler is
   * between.
   */
  private static boolean isBackendOf(Handle handle, PGConnection connection) {
    return handle.createQuery("SELECT pg_backend_pid()").mapTo(Integer.class).one()
        == connection.getBackendPID();
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
    try (Handle handle = Jdbi.open(connection)) {
      watchUntilIdle(handle);
      return true;
    } catch (SQLException failure) {
      throw Failures.asJdbiException(failure);
    }
  }

  private void watchUntilIdle(Handle handle) throws SQLException {
    PGConnection connection = driverOf(handle);
    boolean notified = listens && listen(handle, connection);
    Duration pollInterval = notified ? POLL_WHEN_NOTIFIED : POLL_OTHERWISE;
    unannounced.addAll(watched.keySet());
    long lastPoll = System.nanoTime();
    long lastWork = lastPoll;
    while (!closed && System.nanoTime() - lastWork < IDLE_LIMIT.toNanos()) {
      boolean asked = added.getAndSet(false);
      announce(handle, notified);
      if (asked || System.nanoTime() - lastPoll > pollInterval.toNanos()) {
        lastPoll = System.nanoTime();
        poll(handle);
      }
      if (!watched.isEmpty()) {
        lastWork = System.nanoTime();
      }
      receive(connection, TICK);
    }
    if (listens) {
      handle.execute("UNLISTEN *");
    }
  }

  private boolean listen(Handle handle, PGConnection connection) throws SQLException {
    if (!isBackendOf(handle, connection)) {
      return false;
    }
    handle.execute("LISTEN \"" + channel + '"');
    String echo = UUID.randomUUID().toString();
    handle.execute("SELECT pg_notify(?, ?)", channel, echo);
    long end = System.nanoTime() + ECHO_LIMIT.toNanos();
    while (System.nanoTime() < end) {
      if (receive(connection, ECHO_LIMIT).contains(echo)) {
        return true;
      }
    }
    return false;
  }

  public static Set<Long> running(
      Handle handle, String inFlightSql, Map<Long, IdempotencyKey> operations) {
    List<Long> locks = List.copyOf(operations.keySet());
    List<IdempotencyKey> keys = locks.stream().map(operations::get).toList();
    List<Caller> callers = keys.stream().map(IdempotencyKey::caller).toList();
    return handle
        .createQuery(inFlightSql)
        .bindArray("keys", String.class, keys.stream().map(IdempotencyKey::value).toList())
        .bindArray("users", UUID.class, callers.stream().map(Caller::userId).toList())
        .bindArray("tenants", String.class, names(callers, Caller::tenant))
        .bindArray("projects", String.class, names(callers, Caller::project))
        .bindArray("locks", Long.class, locks)
        .mapTo(Long.class)
        .set();
  }

  private static List<String> names(List<Caller> callers, Function<Caller, Optional<String>> name) {
    return callers.stream().map(name).map(given -> given.orElse("")).toList();
  }

  /** Tells other servers that the end of operations is awaited. */
  private void announce(Handle handle, boolean notified) {
    List<Long> locks = List.copyOf(unannounced);
    if (notified && !locks.isEmpty()) {
      handle.createUpdate(announceSql).bindArray("locks", Long.class, locks).execute();
    }
    locks.forEach(unannounced::remove);
  }

  private List<String> receive(PGConnection connection, Duration maxWait) throws SQLException {
    List<String> received =
        Stream.of(connection.getNotifications((int) maxWait.toMillis()))
            .map(PGNotification::getParameter)
            .toList();
    received.stream().map(Longs::tryParse).filter(Objects::nonNull).forEach(this::notifyEnded);
    return received;
  }

  private void poll(Handle handle) {
    Map<Long, IdempotencyKey> asked = new HashMap<>();
    watched.forEach((lock, operation) -> asked.put(lock, operation.key()));
    if (!asked.isEmpty()) {
      Set<Long> running = running(handle, inFlightSql, asked);
      asked.keySet().stream().filter(lock -> !running.contains(lock)).forEach(this::notifyEnded);
    }
  }

  private void notifyEnded(long lock) {
    Watched operation = watched.get(lock);
    if (operation != null) {
      unannounced.add(lock);
      operation.by().forEach(engine -> engine.ended.accept(operation.key()));
    }
  }
}
