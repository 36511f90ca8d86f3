package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.ThingServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class SweepTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final Duration EXPIRED = Duration.ofHours(-1);
  private static final Duration LIVE = Duration.ofHours(1);

  private final KeyTable table = new KeyTable(database);
  private final Jdbi app = Jdbi.create(database.app());

  @BeforeEach
  void startWithAnEmptyTable() {
    table.clear();
  }

  @Test
  void withNoUserSetItDeletesTheExpiredRowsOfEveryUserAndNoOther() {
    table.add(25, EXPIRED);
    table.add(5, LIVE);

    try (ExpirySweeper sweeper = ExpirySweeper.builder(database.app()).batchSize(10).build()) {
      assertThat(sweeper.sweep()).isEqualTo(25);
    }

    assertThat(table.size()).isEqualTo(5);
  }

  @Test
  void whoSweepsCanReadNothingOfAnyRow() {
    table.add(3, EXPIRED);
    table.add(3, LIVE);

    app.useTransaction(
        sweeping -> {
          assertThat(visibleRows(sweeping)).isEmpty();
          assertThat(
                  sweeping.execute(
                      "DELETE FROM idempotency.idempotency_keys WHERE expires <= now()"))
              .as("rows deleted without the function")
              .isZero();

          assertThat(
                  sweeping
                      .createQuery("SELECT * FROM idempotency.sweep_expired(10)")
                      .mapToMap()
                      .list()
                      .toString())
              .as("all that a sweep tells")
              .isEqualTo("[{sweep_expired=3}]");

          assertThat(visibleRows(sweeping)).isEmpty();
        });
  }

  @Test
  void aRunningCallIsNotSweptHoweverOldItsKey() {
    table.add(1, EXPIRED);
    database
        .superuser()
        .useHandle(
            handle ->
                handle.execute(
                    "UPDATE idempotency.idempotency_keys SET completed = NULL, response_bytes ="
                        + " NULL, lease_expires = now() + interval '1 minute'"));

    try (ExpirySweeper sweeper = ExpirySweeper.builder(database.app()).build()) {
      assertThat(sweeper.sweep()).isZero();
    }
  }

  @Test
  void rowsThatAnotherSweepWorksOnAreLeftToIt() {
    table.add(10, EXPIRED);

    String impatient = database.appUrl() + "&options=-c%20lock_timeout=2000";
    try (Handle other = database.superuser().open();
        HikariDataSource pool = ThingServer.pool(impatient);
        ExpirySweeper sweeper = ExpirySweeper.builder(pool).build()) {
      other.begin();
      other
          .createQuery("SELECT id FROM idempotency.idempotency_keys LIMIT 4 FOR UPDATE")
          .mapToMap()
          .list();

      assertThat(sweeper.sweep()).isEqualTo(6);
      other.rollback();
    }
  }

  @Test
  void sweepersOfSeveralServersShareTheWork() throws Exception {
    int sweepers = 4;
    table.add(2_000, EXPIRED);
    ExecutorService servers = Executors.newFixedThreadPool(sweepers);
    try {
      List<Future<Long>> sweeps = new ArrayList<>();
      for (int server = 0; server < sweepers; server++) {
        sweeps.add(
            servers.submit(
                () -> {
                  try (ExpirySweeper sweeper =
                      ExpirySweeper.builder(database.app()).batchSize(50).build()) {
                    return sweeper.sweep();
                  }
                }));
      }

      long swept = 0;
      for (Future<Long> sweep : sweeps) {
        swept += sweep.get();
      }
      assertThat(swept).isEqualTo(2_000);
      assertThat(table.size()).isZero();
    } finally {
      servers.shutdownNow();
    }
  }

  @Test
  void itSweepsByItselfFromItsStartToItsEnd() {
    table.add(3, EXPIRED);

    ExpirySweeper sweeper =
        ExpirySweeper.builder(database.app()).interval(Duration.ofMillis(20)).build().start();
    await().until(() -> table.size() == 0);
    sweeper.close();

    await().until(() -> !sweeperIsAlive());
  }

  @Test
  void anErrorDoesNotEndItsSweeps() {
    table.add(3, EXPIRED);

    try (FatalOncePool pool = new FatalOncePool()) {
      ExpirySweeper sweeper =
          ExpirySweeper.builder(pool).interval(Duration.ofMillis(20)).build().start();
      await().until(() -> table.size() == 0);
      sweeper.close();

      assertThat(pool.failed).isTrue();
    }
  }

  /** A pool that throws at first what nobody expects of a pool. */
  private static final class FatalOncePool extends HikariDataSource {
    private final AtomicBoolean failed = new AtomicBoolean();

    FatalOncePool() {
      setJdbcUrl(database.appUrl());
      setMinimumIdle(0);
    }

    @Override
    public Connection getConnection() throws SQLException {
      if (!failed.getAndSet(true)) {
        throw new NoClassDefFoundError("the driver is half there");
      }
      return super.getConnection();
    }
  }

  private static boolean sweeperIsAlive() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals("idempotency-sweeper"));
  }

  private static List<?> visibleRows(Handle handle) {
    return handle.createQuery("SELECT * FROM idempotency.idempotency_keys").mapToMap().list();
  }
}
