package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.event.ProcessEvent;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.thing.EventJournal;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

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
  void withoutAUserASweepDeletesTheExpiredRowsOfAllUsersOnly() {
    table.add(25, EXPIRED);
    table.add(5, LIVE);

    try (ExpirySweeper sweeper = ExpirySweeper.builder(store()).batchSize(10).build()) {
      assertThat(sweeper.sweep()).isEqualTo(25);
    }

    assertThat(table.size()).isEqualTo(5);
  }

  @Test
  void anExpiredReservationWhoseOwnerHasDiedKeepsNoOtherRequestOut() {
    UUID user = UUID.randomUUID();
    ClaimRequest dead = Things.claimOf(user, Things.CREATE_THING);
    IdempotencyStore store = store();
    Things.win(store, dead);
    table.expire(user);

    Fingerprint other = Fingerprinter.wholeRequest().fingerprint(Things.named("of the living"));
    Things.win(store, Things.claimOf(dead.key(), Things.CREATE_THING, other));
  }

  @Test
  void functionsForAllUsersWaitForALockNoLongerThanTwoSeconds() {
    List<String> bounded =
        app.withHandle(
            handle ->
                handle
                    .createQuery(
                        "SELECT proname FROM pg_proc WHERE proname IN"
                            + " ('renew_leases', 'sweep_expired')"
                            + " AND 'lock_timeout=2s' = ANY (proconfig)")
                    .mapTo(String.class)
                    .list());

    assertThat(bounded).containsExactlyInAnyOrder("renew_leases", "sweep_expired");
  }

  @Test
  void everySweepIsReportedAfterItsLastBatchAndSoIsAFailedOne() {
    EventJournal journal = new EventJournal();
    EventJournal second = new EventJournal();
    table.add(25, EXPIRED);
    journal.onEach(event -> assertThat(table.size()).isZero());

    try (ExpirySweeper sweeper =
            ExpirySweeper.builder(store())
                .batchSize(10)
                .shard("east")
                .listener(journal.listener())
                .listener(second.listener())
                .build();
        ExpirySweeper broken =
            ExpirySweeper.builder(
                    PostgresIdempotencyStore.builder(database.app()).schema("nowhere").build())
                .shard("west")
                .listener(second.listener())
                .build()) {
      sweeper.sweep();
      assertThatThrownBy(broken::sweep).isInstanceOf(StoreException.class);
    }

    ProcessEvent swept = journal.only(Kind.SWEPT, ProcessEvent.class);
    assertThat(swept.records()).isEqualTo(25);
    assertThat(swept.took()).isPositive();
    assertThat(swept.lag().orElseThrow()).isPositive();
    assertThat(swept.shard()).contains("east");
    assertThat(second.kinds()).containsExactly(Kind.SWEPT, Kind.SWEEP_FAILED);
    ProcessEvent failed = second.only(Kind.SWEEP_FAILED, ProcessEvent.class);
    assertThat(failed.thrown()).containsInstanceOf(StoreException.class);
    assertThat(failed.shard()).contains("west");
  }

  @Test
  void aRunningCallWithAnExpiredKeyIsNotSwept() {
    table.add(1, EXPIRED);
    database.execute(
        "UPDATE idempotency.idempotency_keys SET completed = NULL, response_bytes ="
            + " NULL, lease_expires = now() + interval '1 minute'");

    try (ExpirySweeper sweeper = ExpirySweeper.builder(store()).build()) {
      assertThat(sweeper.sweep()).isZero();
    }
  }

  @Test
  void rowsThatAnotherSweepWorksOnAreLeftToIt() {
    table.add(10, EXPIRED);

    String impatient = database.appUrl() + "&options=-c%20lock_timeout=2000";
    try (Handle other = database.superuser().open();
        HikariDataSource pool = PostgresThingServer.pool(impatient);
        PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(pool).build();
        ExpirySweeper sweeper = ExpirySweeper.builder(store).build()) {
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
  void aStartedSweeperSweepsUntilItIsClosed() {
    table.add(3, EXPIRED);

    ExpirySweeper sweeper =
        ExpirySweeper.builder(store()).interval(Duration.ofMillis(20)).build().start();
    await().until(() -> table.size() == 0);
    sweeper.close();

    await().until(() -> !sweeperIsAlive());
  }

  @Test
  void aProcessThatLivesShorterThanAnIntervalSweeps() {
    table.add(3, EXPIRED);

    try (ExpirySweeper sweeper = ExpirySweeper.builder(store()).build().start()) {
      await().until(() -> table.size() == 0);
      assertThat(sweeper.sweep()).isZero();
    }
  }

  @Test
  void aSweeperOfASchemaThatDoesNotExistIsRefusedWhenItStarts() {
    try (PostgresIdempotencyStore nowhere =
            PostgresIdempotencyStore.builder(database.app()).schema("nowhere").build();
        ExpirySweeper sweeper = ExpirySweeper.builder(nowhere).shard("west").build()) {
      assertThatThrownBy(sweeper::start)
          .isInstanceOf(SetupException.class)
          .hasMessageContaining("the sweeper of shard west cannot sweep the schema nowhere")
          .hasMessageContaining("schema \"nowhere\" does not exist");
    }
  }

  @Test
  void aSweeperWhoseRoleMayNotSweepIsRefusedWhenItStarts() {
    database.execute(
        "REVOKE EXECUTE ON FUNCTION idempotency.sweep_expired(integer) FROM things_app");
    try (ExpirySweeper sweeper = ExpirySweeper.builder(store()).build()) {
      assertThatThrownBy(sweeper::start)
          .isInstanceOf(SetupException.class)
          .hasMessageContaining("permission denied for function sweep_expired");
    } finally {
      database.execute(
          "GRANT EXECUTE ON FUNCTION idempotency.sweep_expired(integer) TO things_app");
    }
  }

  @Test
  void anErrorDoesNotEndTheSweeper() {
    table.add(3, EXPIRED);

    try (FatalOncePool pool = new FatalOncePool()) {
      ExpirySweeper sweeper =
          ExpirySweeper.builder(PostgresIdempotencyStore.builder(pool).connections(pool).build())
              .interval(Duration.ofMillis(20))
              .build()
              .start();
      await().until(() -> table.size() == 0);
      sweeper.close();

      assertThat(pool.asked).hasValueGreaterThan(2);
    }
  }

  /** A pool that throws an unexpected error once, after the connection of the check. */
  private static final class FatalOncePool extends HikariDataSource {
    private final AtomicInteger asked = new AtomicInteger();

    FatalOncePool() {
      setJdbcUrl(database.appUrl());
      setMinimumIdle(0);
    }

    @Override
    public Connection getConnection() throws SQLException {
      if (asked.incrementAndGet() == 2) {
        throw new NoClassDefFoundError("the driver is half there");
      }
      return super.getConnection();
    }
  }

  /** As a container does with its own transaction around. */
  @Test
  @Timeout(120)
  void aPoolThatRollsTheSweepBackIsReported() {
    table.add(10, EXPIRED);
    PGSimpleDataSource rollingBack =
        new PGSimpleDataSource() {
          @Override
          public Connection getConnection() throws SQLException {
            return rollingBack(super.getConnection());
          }
        };
    rollingBack.setUrl(database.appUrl());
    try (PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(rollingBack).build();
        ExpirySweeper sweeper = ExpirySweeper.builder(store).batchSize(10).build()) {
      assertThatThrownBy(sweeper::sweep)
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("the database rolls back the sweep");
    }
    assertThat(table.size()).isEqualTo(10);
  }

  @Test
  void aSweeperStartsWhileTheDatabaseIsOutOfReach() {
    try (HikariDataSource nowhere = PostgresThingServer.pool("jdbc:postgresql://127.0.0.1:1/none");
        PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(nowhere).build();
        ExpirySweeper sweeper = ExpirySweeper.builder(store).build()) {
      assertThat(sweeper.start()).isSameAs(sweeper);
    }
  }

  private static PostgresIdempotencyStore store() {
    return PostgresIdempotencyStore.builder(database.app()).build();
  }

  /** Returns the connection in a transaction that is never committed. */
  private static Connection rollingBack(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    return (Connection)
        Proxy.newProxyInstance(
            SweepTest.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) ->
                method.getName().equals("getAutoCommit")
                    ? true
                    : method.invoke(connection, arguments));
  }

  private static boolean sweeperIsAlive() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals("idempotency-sweeper"));
  }
}
