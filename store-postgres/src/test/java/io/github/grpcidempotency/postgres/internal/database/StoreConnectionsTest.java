package io.github.grpcidempotency.postgres.internal.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.spi.ConnectionCounts;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.jdbi.v3.core.ConnectionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who waits for whom. The pool of these tests has no database, so it never has a connection. */
class StoreConnectionsTest {
  private final SQLException refused = new SQLException("nobody accepts connections", "08001");
  private final AtomicInteger waiting = new AtomicInteger();
  private final CountDownLatch outage = new CountDownLatch(1);
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void stop() {
    outage.countDown();
    threads.shutdownNow();
  }

  @Test
  void threadsThatWaitFailWithTheFailureOfThoseBeforeThem() {
    StoreConnections connections = connections(Duration.ofMinutes(1));
    List<CompletableFuture<Void>> calls = new ArrayList<>();
    for (int call = 0; call < 4 * StoreConnections.SIZE; call++) {
      calls.add(CompletableFuture.runAsync(() -> connections.use(none -> true), threads));
    }
    await().until(() -> waiting.get() == StoreConnections.SIZE - 1);
    outage.countDown();

    for (CompletableFuture<Void> call : calls) {
      assertThatThrownBy(call::join)
          .isInstanceOf(CompletionException.class)
          .hasCauseInstanceOf(ConnectionException.class)
          .hasRootCause(refused);
    }
  }

  @Test
  void renewalsDoNotWaitForOtherStatements() {
    StoreConnections connections = connections(Duration.ofMinutes(1));
    for (int call = 0; call < 2 * StoreConnections.SIZE; call++) {
      start(() -> connections.use(none -> true));
    }
    await().until(() -> waiting.get() == StoreConnections.SIZE - 1);

    start(() -> connections.useForRenewal(none -> true));

    await().until(() -> waiting.get() == StoreConnections.SIZE);
  }

  @Test
  void aThreadDoesNotWaitForEver() {
    StoreConnections connections = connections(Duration.ofMillis(50));
    for (int call = 0; call < StoreConnections.SIZE - 1; call++) {
      start(() -> connections.use(none -> true));
    }
    await().until(() -> waiting.get() == StoreConnections.SIZE - 1);

    assertThatThrownBy(() -> connections.use(none -> true))
        .isInstanceOf(ConnectionException.class)
        .hasRootCauseMessage("all connections of the store's pool are in use");
    assertThat(waiting).hasValue(StoreConnections.SIZE - 1);
  }

  @Test
  void connectionsInUseAndThreadsThatWaitForThemAreCounted() {
    StoreConnections connections = connections(Duration.ofMinutes(1));
    for (int call = 0; call < 2 * StoreConnections.SIZE; call++) {
      start(() -> connections.use(none -> true));
    }
    start(() -> connections.useForRenewal(none -> true));

    await()
        .until(
            connections::counts,
            Predicate.isEqual(
                new ConnectionCounts(StoreConnections.SIZE, StoreConnections.SIZE + 1)));
    outage.countDown();
    await().until(connections::counts, Predicate.isEqual(ConnectionCounts.NONE));
  }

  /** Runs something that the end of the test interrupts. */
  private void start(Runnable waiter) {
    CompletableFuture<Void> unused = CompletableFuture.runAsync(waiter, threads);
  }

  private StoreConnections connections(Duration maxWait) {
    DataSource pool =
        (DataSource)
            Proxy.newProxyInstance(
                StoreConnectionsTest.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (self, method, arguments) -> {
                  waiting.incrementAndGet();
                  outage.await();
                  throw refused;
                });
    return new StoreConnections(pool, () -> {}, maxWait);
  }
}
