package io.github.grpcidempotency.postgres.internal.watch;

import com.google.common.primitives.Longs;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.LockId;
import io.github.grpcidempotency.postgres.internal.sql.SqlFile;
import io.github.grpcidempotency.store.CompletionWatch;
import io.github.grpcidempotency.store.support.DaemonThreads;
import io.github.grpcidempotency.store.support.RateLimitedLog;
import io.github.grpcidempotency.store.support.RepeatedTask;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Detects when operations of other servers end. It uses a separate connection in two ways: {@code
 * LISTEN}, and a query for all watched operations, every second and whenever an operation is added.
 * A pooler loses notifications. The watch detects a pooler if the answering backend is not the one
 * that the driver knows, or if a notification that the watch sends to itself does not arrive. Then,
 * and also if it is configured not to listen, the watch polls ten times a second instead.
 *
 * <p>One daemon thread, which starts with the first watched operation. When no operation has been
 * watched for a while, the thread returns its connection and sleeps, because a listener that does
 * not read fills the database's notification queue.
 */
public final class PostgresCompletionWatch implements CompletionWatch {
  private static final Logger logger = LoggerFactory.getLogger(PostgresCompletionWatch.class);
  private static final Duration TICK = Duration.ofMillis(50);
  private static final Duration POLL_WHEN_NOTIFIED = Duration.ofSeconds(1);
  private static final Duration POLL_OTHERWISE = Duration.ofMillis(100);
  private static final Duration ECHO_LIMIT = Duration.ofMillis(500);
  private static final Duration AFTER_OUTAGE = Duration.ofSeconds(1);
  private static final Duration IDLE_LIMIT = Duration.ofSeconds(5);

  private final Jdbi jdbi;

  /** The schema's name, because no longer name fits if that name is as long as possible. */
  private final String channel;

  private final String announceSql;
  private final String inFlightSql;
  private final boolean listens;
  private final Consumer<IdempotencyKey> ended;
  private final Map<Long, IdempotencyKey> watched = new ConcurrentHashMap<>();
  private final Set<Long> unannounced = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean added = new AtomicBoolean();
  private final Thread thread;
  private final CountDownLatch closed = new CountDownLatch(1);
  private boolean started;

  /**
   * Creates the watch.
   *
   * @param listens whether to use {@code LISTEN}
   */
  public PostgresCompletionWatch(
      DataSource dataSource, String schema, boolean listens, Consumer<IdempotencyKey> ended) {
    this.jdbi = Jdbi.create(dataSource);
    this.channel = schema;
    this.listens = listens;
    this.announceSql = SqlFile.load("maintenance/announce_waits", Map.of("schema", schema));
    this.inFlightSql = SqlFile.load("maintenance/in_flight", Map.of("schema", schema));
    this.ended = ended;
    this.thread = DaemonThreads.named("idempotency-watch").newThread(this::run);
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

  @Override
  public synchronized void add(IdempotencyKey key) {
    long lock = LockId.of(key);
    if (watched.putIfAbsent(lock, key) == null) {
      unannounced.add(lock);
      added.set(true);
    }
    if (!started) {
      started = true;
      thread.start();
    }
    notifyAll();
  }

  @Override
  public void remove(IdempotencyKey key) {
    long lock = LockId.of(key);
    watched.remove(lock);
    unannounced.remove(lock);
  }

  @Override
  public synchronized void close() {
    closed.countDown();
    notifyAll();
  }

  private void run() {
    RepeatedTask watching =
        RepeatedTask.of(
            "watch other servers' operations", RateLimitedLog.of(logger), this::watchUntilIdle);
    try {
      while (awaitWork()) {
        if (!watching.succeeds()) {
          boolean unused = closed.await(AFTER_OUTAGE.toMillis(), TimeUnit.MILLISECONDS);
        }
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits until there is an operation to watch. Returns false if the watch was closed. */
  private synchronized boolean awaitWork() throws InterruptedException {
    while (watched.isEmpty() && !isClosed()) {
      wait();
    }
    return !isClosed();
  }

  private boolean isClosed() {
    return closed.getCount() == 0;
  }

  private void watchUntilIdle() throws SQLException {
    try (Handle handle = jdbi.open()) {
      PGConnection connection = driverOf(handle);
      boolean notified = listens && listen(handle, connection);
      Duration pollInterval = notified ? POLL_WHEN_NOTIFIED : POLL_OTHERWISE;
      unannounced.addAll(watched.keySet());
      long lastPoll = System.nanoTime();
      long lastWork = lastPoll;
      while (!isClosed() && System.nanoTime() - lastWork < IDLE_LIMIT.toNanos()) {
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
  }

  private boolean listen(Handle handle, PGConnection connection) throws SQLException {
    if (!isBackendOf(handle, connection)) {
      return false;
    }
    handle.execute("LISTEN \"" + channel + '"');
    String echo = UUID.randomUUID().toString();
    try {
      jdbi.useHandle(other -> other.execute("SELECT pg_notify(?, ?)", channel, echo));
    } catch (JdbiException exhausted) {
      logger.debug("the pool gave no second connection to test notifications with", exhausted);
      return false;
    }
    long end = System.nanoTime() + ECHO_LIMIT.toNanos();
    while (System.nanoTime() < end) {
      if (receive(connection, ECHO_LIMIT).contains(echo)) {
        return true;
      }
    }
    return false;
  }

  /** Tells other servers that the end of operations is awaited. */
  public static void announce(Handle handle, String announceSql, List<Long> locks) {
    handle.createUpdate(announceSql).bindArray("locks", Long.class, locks).execute();
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

  private void announce(Handle handle, boolean notified) {
    List<Long> locks = List.copyOf(unannounced);
    if (notified && !locks.isEmpty()) {
      announce(handle, announceSql, locks);
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
    Map<Long, IdempotencyKey> asked = Map.copyOf(watched);
    if (!asked.isEmpty()) {
      Set<Long> running = running(handle, inFlightSql, asked);
      asked.keySet().stream().filter(lock -> !running.contains(lock)).forEach(this::notifyEnded);
    }
  }

  private void notifyEnded(long lock) {
    IdempotencyKey key = watched.get(lock);
    if (key != null) {
      unannounced.add(lock);
      ended.accept(key);
    }
  }
}
