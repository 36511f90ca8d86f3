package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What each state of the database means to a call of {@code CreateOther}, which is reserved, fails
 * open, and whose handler needs no database.
 */
class DatabaseStatesTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest REQUEST = Things.named("a thing");

  private final IdempotencyStore others =
      PostgresIdempotencyStore.builder(database.app()).lease(Duration.ofMinutes(5)).build();
  private final List<AutoCloseable> opened = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    asSuperuser(
        "ALTER ROLE things_app RESET ALL",
        "DROP TRIGGER IF EXISTS breaks ON idempotency.idempotency_keys",
        "SELECT idempotency.grant_to('things_app')");
    // The shared pool may have connected meanwhile, with the settings of the test.
    database.app().getHikariPoolMXBean().softEvictConnections();
    for (int i = opened.size() - 1; i >= 0; i--) {
      opened.get(i).close();
    }
  }

  @Test
  void aReadOnlyDatabaseReplaysWhatItHasAndRefusesTheRest() {
    HikariDataSource pool = readOnlyLater();
    ThingServer server = open(PostgresThingServer.on(pool).connections(pool).start());
    ThingClient client = open(ThingClient.to(server.port()));
    Reply first = client.createOther(REQUEST);
    ThingClient running = client.withNewKey();
    Things.win(others, Things.claimOf(running, REQUEST));

    becomeReadOnly();

    assertThat(client.createOther(REQUEST).bytes()).isEqualTo(first.bytes());
    assertThat(client.createOther(Things.named("another")).reason()).isEqualTo(Things.KEY_REUSED);
    assertThat(running.createThing(REQUEST).reason()).isEqualTo(Things.IN_PROGRESS);
    assertUnavailable(client.withNewKey().createOther(REQUEST), "read only");
    assertThat(server.runs()).isEqualTo(1);
  }

  /** The other server's connections live on, so its handler runs. */
  @Test
  void aServerThatIsRefusedALoginRunsNothingBesideOneWhoseConnectionsLiveOn() {
    ThingServer one = open(PostgresThingServer.on(database.app()).start());
    ThingClient toOne = open(ThingClient.to(one.port()));
    HikariDataSource pool = open(PostgresThingServer.pool(database.appUrl()));
    ThingServer two = open(PostgresThingServer.on(pool).connections(pool).start());
    ThingClient toTwo = open(ThingClient.to(two.port())).like(toOne);
    try (Gate gate = Gate.shut(database.superuser())) {
      CreateThingRequest slow = Things.waitingAt(gate);
      CompletableFuture<Reply> first = toOne.startThing(slow);
      gate.awaitWaiting(1);
      asSuperuser("ALTER ROLE things_app NOLOGIN");
      pool.getHikariPoolMXBean().softEvictConnections();

      assertUnavailable(toTwo.createThing(slow), "no login");
      gate.open();
      assertThat(first.join().isOk()).isTrue();
    } finally {
      asSuperuser("ALTER ROLE things_app LOGIN");
    }
    assertThat(two.runs()).isZero();
  }

  @Test
  void aTransactionalCallIsRefusedByAReadOnlyDatabaseBeforeItsHandlerRuns() {
    ThingServer server = open(PostgresThingServer.on(readOnlyLater()).transactional().start());
    ThingClient client = open(ThingClient.to(server.port()));
    Reply first = client.createThing(REQUEST);

    becomeReadOnly();

    assertThat(client.createThing(REQUEST).bytes()).isEqualTo(first.bytes());
    assertUnavailable(client.withNewKey().createThing(REQUEST), "read only");
    assertThat(server.runs()).isEqualTo(1);
  }

  @Test
  void anExhaustedPoolOfTheStoreIsNoOutage() throws SQLException {
    HikariDataSource own = pool("application_name=exhausted");
    own.setMaximumPoolSize(4);
    ThingServer server = open(PostgresThingServer.on(database.app()).connections(own).start());
    ThingClient client = open(ThingClient.to(server.port()));
    client.createOther(REQUEST);

    List<Connection> taken = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      taken.add(own.getConnection());
    }
    assertUnavailable(client.createOther(REQUEST), "pool exhausted");
    assertUnavailable(client.withNewKey().createOther(REQUEST), "pool exhausted");
    for (Connection each : taken) {
      each.close();
    }

    assertThat(server.runs()).isEqualTo(1);
    assertThat(client.createOther(REQUEST).isReplay()).isTrue();
  }

  /** A connection to a demoted primary is of no use, however alive it is. */
  @Test
  void aPoolWithAnExceptionOverrideEvictsAConnectionThatCannotWrite() throws SQLException {
    HikariDataSource service = evicting(1);
    HikariDataSource own = evicting(4);
    ThingServer server =
        open(PostgresThingServer.on(service).connections(own).transactional().start());
    ThingClient client = open(ThingClient.to(server.port()));
    for (HikariDataSource pool : List.of(service, own)) {
      pool.getHikariPoolMXBean().softEvictConnections(); // so that there is one connection
      try (Connection connection = pool.getConnection();
          Statement statement = connection.createStatement()) {
        statement.execute("SET default_transaction_read_only = on");
      }
      ThingClient call = client.withNewKey();

      Reply refused = pool == own ? call.createOther(REQUEST) : call.createThing(REQUEST);

      assertUnavailable(refused, "read only");
      assertThat(call.withNewKey().createOther(REQUEST).isOk()).as("a new connection").isTrue();
      assertThat(call.withNewKey().createThing(REQUEST).isOk()).as("a new connection").isTrue();
    }
  }

  private HikariDataSource evicting(int size) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(database.appUrl());
    config.setMaximumPoolSize(size);
    config.setMinimumIdle(0);
    config.setExceptionOverrideClassName(EvictReadOnly.class.getName());
    return open(new HikariDataSource(config));
  }

  @Test
  void aMissingRightIsNoOutageAndARecordThatCanBeReadIsReplayed() {
    ThingServer server = open(PostgresThingServer.on(database.app()).start());
    ThingClient client = open(ThingClient.to(server.port()));
    Reply first = client.createOther(REQUEST);

    asSuperuser("REVOKE INSERT ON idempotency.idempotency_keys FROM things_app");
    assertThat(client.createOther(REQUEST).bytes()).isEqualTo(first.bytes());
    assertUnavailable(client.withNewKey().createOther(REQUEST), "broken");

    asSuperuser("REVOKE SELECT ON idempotency.idempotency_keys FROM things_app");
    assertUnavailable(client.createOther(REQUEST), "broken");
    assertThat(server.runs()).isEqualTo(1);
  }

  @Test
  void aTransactionalCallWhoseRecordCannotBeWrittenReportsTheCause() {
    ThingServer server =
        open(PostgresThingServer.on(database.app()).execution(Execution.TRANSACTIONAL).start());
    ThingClient client = open(ThingClient.to(server.port()));

    asSuperuser("REVOKE INSERT ON idempotency.idempotency_keys FROM things_app");

    assertUnavailable(client.createThing(REQUEST), "broken");
  }

  @Test
  void anErrorOfTheDatabaseRunsNoCall() {
    ThingServer server = open(PostgresThingServer.on(database.app()).start());
    ThingClient client = open(ThingClient.to(server.port()));
    Reply first = client.createOther(REQUEST);
    Map<String, String> refusals =
        Map.of(
            "53100", "broken",
            "42P01", "broken",
            "40P01", "contention",
            "55P03", "contention",
            "57014", "timeout",
            "26000", "other",
            "08P01", "other",
            "22P05", "other",
            "53200", "other");

    refusals.forEach(
        (state, refusedAs) -> {
          breakInserts(state);
          assertUnavailable(client.withNewKey().createOther(REQUEST), refusedAs);
        });

    assertThat(client.createOther(REQUEST).bytes()).isEqualTo(first.bytes());
    assertThat(server.runs()).isEqualTo(1);
  }

  @Test
  void aClaimBehindALockIsRefusedRatherThanRun() {
    ThingServer server = open(PostgresThingServer.on(pool("lock_timeout=100")).start());
    ThingClient client = open(ThingClient.to(server.port()));
    try (Handle migration = database.superuser().open()) {
      migration.begin();
      migration.execute("LOCK TABLE idempotency.idempotency_keys IN ACCESS EXCLUSIVE MODE");

      assertUnavailable(client.createOther(REQUEST), "contention");

      migration.rollback();
    }
    assertThat(server.runs()).isZero();
    assertThat(client.createOther(REQUEST).isOk()).isTrue();
  }

  private static void assertUnavailable(Reply reply, String cause) {
    assertThat(reply.reason()).isEqualTo(Things.STORE_UNAVAILABLE);
    assertThat(reply.status().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(reply.description()).endsWith(cause);
    assertThat(reply.reasonMetadata()).containsKey("cause");
    assertThat(reply.retryAfter()).isPresent();
  }

  /** Returns a pool whose connections have a setting. */
  private HikariDataSource pool(String setting) {
    return open(
        PostgresThingServer.pool(
            database.appUrl() + "&options=-c%20" + setting.replace("\\ ", "%5C%20")));
  }

  /** Returns a pool whose connections can be refreshed after a change of the role's settings. */
  private HikariDataSource readOnlyLater() {
    return open(PostgresThingServer.pool(database.appUrl()));
  }

  /** Like a demoted primary: from one moment to the next, and also for open connections. */
  private void becomeReadOnly() {
    asSuperuser(
        "ALTER ROLE things_app SET default_transaction_read_only = on",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            + " WHERE usename = 'things_app' AND datname = current_database()");
    await()
        .until(
            () ->
                database.one(
                        Integer.class,
                        "SELECT count(*) FROM pg_stat_activity WHERE usename ="
                            + " 'things_app' AND datname = current_database()")
                    == 0);
    for (AutoCloseable resource : opened) {
      if (resource instanceof HikariDataSource pool) {
        pool.getHikariPoolMXBean().softEvictConnections();
      }
    }
  }

  private void breakInserts(String state) {
    asSuperuser(
        """
        CREATE OR REPLACE FUNCTION app.breaks() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          RAISE EXCEPTION 'broken on purpose' USING ERRCODE = '%s';
        END
        $$
        """
            .formatted(state),
        "CREATE OR REPLACE TRIGGER breaks BEFORE INSERT ON idempotency.idempotency_keys"
            + " FOR EACH ROW EXECUTE FUNCTION app.breaks()");
  }

  private static void asSuperuser(String... statements) {
    for (String statement : statements) {
      database.execute(statement);
    }
  }

  private <T extends AutoCloseable> T open(T resource) {
    opened.add(resource);
    return resource;
  }
}
