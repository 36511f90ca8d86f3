package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.EndWatch;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Learns of the end of other servers' operations: by {@code LISTEN} on one connection of its own,
 * and by asking for all of them at once, every second. A pooler in between swallows notifications:
 * as long as a notification sent to itself has not arrived, it asks ten times a second instead.
 *
 * <p>One daemon thread, started with the first operation watched; it sleeps while none is.
 */
final class PostgresEndWatch implements EndWatch {
  private static final Logger logger = LoggerFactory.getLogger(PostgresEndWatch.class);
  private static final int TICK_MILLIS = 50;
  private static final Duration POLL_WHEN_NOTIFIED = Duration.ofSeconds(1);
  private static final Duration POLL_OTHERWISE = Duration.ofMillis(100);
  private static final String ECHO = "echo";

  private final DataSource dataSource;
  private final Jdbi jdbi;
  private final String channel;
  private final String announceSql;
  private final String inFlightSql;
  private final Consumer<IdempotencyKey> ended;
  private final Map<Long, IdempotencyKey> watched = new ConcurrentHashMap<>();
  private final Set<Long> unannounced = ConcurrentHashMap.newKeySet();
  private final Thread thread;

  private Optional<Connection> connection = Optional.empty();
  private boolean notified;
  private long lastPoll = System.nanoTime();
  private boolean started;
  private volatile boolean closed;

  PostgresEndWatch(DataSource dataSource, String schema, Consumer<IdempotencyKey> ended) {
    this.dataSource = dataSource;
    this.jdbi = Jdbi.create(dataSource);
    this.channel = schema + "_ended";
    this.announceSql = SqlFile.load("announce_waits", Map.of("schema", schema));
    this.inFlightSql = SqlFile.load("in_flight", Map.of("schema", schema));
    this.ended = ended;
    this.thread = new Thread(this::run, "idempotency-watch");
    this.thread.setDaemon(true);
  }

  @Override
  public synchronized void add(ClaimRequest request) {
    long lock = LockId.of(request.key());
    if (watched.putIfAbsent(lock, request.key()) == null) {
      unannounced.add(lock);
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
  public void close() {
    closed = true;
    thread.interrupt();
  }

  private void run() {
    try {
      while (!closed) {
        awaitWork();
        try {
          listen();
          announce();
          awaitNotifications();
          poll();
        } catch (SQLException | JdbiException failure) {
          logger.warn("cannot watch other servers' operations; trying again", failure);
          disconnect();
          Thread.sleep(POLL_WHEN_NOTIFIED.toMillis());
        }
      }
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    } finally {
      disconnect();
    }
  }

  private synchronized void awaitWork() throws InterruptedException {
    while (watched.isEmpty()) {
      wait();
    }
  }

  private void listen() throws SQLException {
    if (connection.isEmpty()) {
      Connection opened = dataSource.getConnection();
      connection = Optional.of(opened);
      try (var statement = opened.createStatement()) {
        statement.execute("LISTEN " + channel);
      }
      jdbi.useHandle(handle -> handle.execute("SELECT pg_notify(?, ?)", channel, ECHO));
    }
  }

  private void announce() {
    List<Long> locks = List.copyOf(unannounced);
    if (!locks.isEmpty()) {
      jdbi.useHandle(
          handle ->
              handle.createUpdate(announceSql).bindArray("locks", Long.class, locks).execute());
      locks.forEach(unannounced::remove);
    }
  }

  private void awaitNotifications() throws SQLException {
    PGConnection listening = connection.orElseThrow().unwrap(PGConnection.class);
    for (PGNotification notification : listening.getNotifications(TICK_MILLIS)) {
      if (notification.getParameter().equals(ECHO)) {
        notified = true;
      } else {
        tell(Long.parseLong(notification.getParameter()));
      }
    }
  }

  private void poll() {
    Duration interval = notified ? POLL_WHEN_NOTIFIED : POLL_OTHERWISE;
    if (System.nanoTime() - lastPoll < interval.toNanos()) {
      return;
    }
    lastPoll = System.nanoTime();
    Map<Long, IdempotencyKey> asked = Map.copyOf(watched);
    List<Long> locks = List.copyOf(asked.keySet());
    List<IdempotencyKey> keys = locks.stream().map(asked::get).toList();
    Set<Long> running =
        jdbi.withHandle(
            handle ->
                handle
                    .createQuery(inFlightSql)
                    .bindArray(
                        "keys", String.class, keys.stream().map(IdempotencyKey::stored).toList())
                    .bindArray(
                        "users",
                        UUID.class,
                        keys.stream().map(key -> key.caller().userId()).toList())
                    .bindArray("locks", Long.class, locks)
                    .mapTo(Long.class)
                    .set());
    locks.stream().filter(lock -> !running.contains(lock)).forEach(this::tell);
  }

  private void tell(long lock) {
    IdempotencyKey key = watched.get(lock);
    if (key != null) {
      unannounced.add(lock);
      ended.accept(key);
    }
  }

  private void disconnect() {
    notified = false;
    connection.ifPresent(
        open -> {
          try (open;
              var statement = open.createStatement()) {
            statement.execute("UNLISTEN *");
          } catch (SQLException ignored) {
            logger.debug("the watching connection was closed already", ignored);
          }
        });
    connection = Optional.empty();
  }
}
