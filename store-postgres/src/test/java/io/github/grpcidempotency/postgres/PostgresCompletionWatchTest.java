package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.internal.database.StoreConnections;
import io.github.grpcidempotency.postgres.internal.operation.PostgresCompletionWatch;
import io.github.grpcidempotency.postgres.internal.sql.SqlFiles;
import io.github.grpcidempotency.test.LogLines;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The watch for the end of other servers' operations survives every failure. */
class PostgresCompletionWatchTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final String SCHEMA = IdempotencySchema.DEFAULT_NAME;
  private static final String ANNOUNCE = SqlFiles.of(SCHEMA).load("maintenance/announce_waits");

  @Test
  void anErrorOfAListenerDoesNotEndTheWatch() {
    AtomicInteger told = new AtomicInteger();
    try (PostgresCompletionWatch watch = watchOn(database.app())) {
      watch
          .subscribe(
              key -> {
                if (told.incrementAndGet() == 1) {
                  throw new NoClassDefFoundError("whoever is told is half there");
                }
              })
          .add(new IdempotencyKey(Caller.of(UUID.randomUUID()), "key"));

      await().until(() -> told.get() > 1);
    }
  }

  @Test
  void anOutageIsLoggedInOneLine() throws IOException {
    try (LogLines log = LogLines.listen();
        HikariDataSource nowhere =
            PostgresThingServer.pool("jdbc:postgresql://localhost:" + closedPort() + "/");
        PostgresCompletionWatch watch = watchOn(nowhere)) {
      watch.subscribe(key -> {}).add(new IdempotencyKey(Caller.of(UUID.randomUUID()), "key"));

      await().until(() -> log.all().stream().anyMatch(line -> line.contains("idempotency-watch")));
      assertThat(log.all())
          .filteredOn(line -> line.contains("idempotency-watch"))
          .singleElement()
          .asString()
          .contains("could not watch other servers' operations; trying again: ")
          .contains("SQLSTATE");
      assertThat(log.all()).noneMatch(line -> line.startsWith("\tat "));
    }
  }

  @Test
  void serversThatAnnounceTheSameWaitsDoNotDeadlock() {
    Jdbi app = Jdbi.create(database.app());
    ExecutorService servers = Executors.newFixedThreadPool(2);
    try (Handle before = app.open()) {
      before.begin();
      announce(before, 5L);

      // Each has inserted its first and waits for 5: what follows is for the other to wait for.
      CompletableFuture<Void> left =
          CompletableFuture.runAsync(
              () -> app.useHandle(one -> announce(one, 1L, 5L, 2L)), servers);
      awaitBlocked(1);
      CompletableFuture<Void> right =
          CompletableFuture.runAsync(
              () -> app.useHandle(one -> announce(one, 2L, 5L, 1L)), servers);
      awaitBlocked(2);
      before.rollback();

      left.join();
      right.join();
    } finally {
      servers.shutdownNow();
    }
  }

  private static PostgresCompletionWatch watchOn(DataSource pool) {
    return new PostgresCompletionWatch(StoreConnections.of(pool), SCHEMA, true);
  }

  private static void announce(Handle handle, Long... locks) {
    handle.createUpdate(ANNOUNCE).bindArray("locks", Long.class, List.of(locks)).execute();
  }

  private static void awaitBlocked(int sessions) {
    await().until(database::blocked, blocked -> blocked == sessions);
  }

  private static int closedPort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
