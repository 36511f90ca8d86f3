package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.metrics.IMetricsTracker;
import io.github.grpcidempotency.fault.ServerProcess;
import io.github.grpcidempotency.postgres.internal.database.StoreConnections;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.test.Snippets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** The pool that a store derives from the service's. */
class DerivedPoolTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  @Test
  void aDerivedPoolHasTheServicesSettingsButItsOwnNameAndSize() throws SQLException {
    try (HikariDataSource service = pool("derived");
        StoreConnections own = StoreConnections.deriveFrom(service)) {
      HikariDataSource derived = own.pool().unwrap(HikariDataSource.class);

      assertThat(derived.getPoolName()).isEqualTo("shop-idempotency");
      assertThat(derived.getMaximumPoolSize()).isEqualTo(StoreConnections.SIZE);
      assertThat(derived.isAutoCommit()).isTrue();
      assertThat(derived.isReadOnly()).isFalse();
      assertThat(derived.getTransactionIsolation()).isNull();
      assertThat(derived.getExceptionOverrideClassName()).isEqualTo(EvictReadOnly.class.getName());
      assertThat(text(own, "SHOW search_path")).isEqualTo("app");
      assertThat(text(own, "SHOW application_name")).isEqualTo("derived");
    }
  }

  @Test
  void workThatHasAConnectionIsRefusedAnother() {
    StoreConnections own = StoreConnections.of(database.app());

    assertThatThrownBy(() -> own.use(first -> own.useForRenewal(second -> true)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("has a connection of the store already");

    assertThat((boolean) own.use(first -> true)).isTrue();
  }

  @Test
  void aDerivedPoolIsClosedWithItsStoreAndTheServicesPoolIsNot() throws SQLException {
    try (HikariDataSource service = pool("closed")) {
      try (PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(service).build()) {
        Claim claim = Things.win(store, Things.claimOf(UUID.randomUUID(), Things.CREATE_THING));
        assertThat(connectionsOf("closed")).isPositive();
        claim.close();
      }

      await().until(() -> connectionsOf("closed") == 0);
      try (Connection connection = service.getConnection()) {
        assertThat(connection.isValid(1)).isTrue();
      }
    }
  }

  @Test
  void bothPoolsLogInWithANewPasswordWithoutARestart() throws Exception {
    database.execute("CREATE ROLE new_app LOGIN PASSWORD 'old' IN ROLE things_app");
    Path rules = Path.of(database.one(String.class, "SHOW hba_file"));
    String trusting = Files.readString(rules);
    Files.writeString(rules, "host all new_app all scram-sha-256\n" + trusting);
    database.execute("SELECT pg_reload_conf()");
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(database.appUrl().replaceFirst("\\?.*", ""));
    config.setUsername("new_app");
    config.setPassword("old");
    config.setMinimumIdle(0);
    config.setInitializationFailTimeout(-1);
    try (HikariDataSource pool = new HikariDataSource(config);
        StoreConnections own = StoreConnections.deriveFrom(pool)) {
      await().until(() -> !logsIn("another"));
      assertThat(text(own, "SELECT current_user")).isEqualTo("new_app");
      String newPassword = "new";
      database.execute("ALTER ROLE new_app PASSWORD 'new'");
      own.pool().unwrap(HikariDataSource.class).getHikariPoolMXBean().softEvictConnections();

      pool.getHikariConfigMXBean().setPassword(newPassword);

      assertThat(text(own, "SELECT current_user")).isEqualTo("new_app");
      try (Connection connection = pool.getConnection()) {
        assertThat(connection.isValid(1)).isTrue();
      }
    } finally {
      Files.writeString(rules, trusting);
      database.execute("SELECT pg_reload_conf()");
      database.execute("DROP ROLE new_app");
    }
  }

  @Test
  void thePageShowsHowToChangeThePassword() throws IOException {
    assertThat(Snippets.of(RepositoryRoot.resolve("docs/operations/rights.md"), "java"))
        .singleElement()
        .matches(
            snippet ->
                Snippets.isCutFrom(
                    snippet,
                    Path.of(
                        "src/test/java/io/github/grpcidempotency/postgres/DerivedPoolTest.java")));
  }

  /** As Spring Boot does. */
  @Test
  void metricsThatTheServiceSetsLaterMeasureTheDerivedPoolByItsName() {
    List<String> measured = new CopyOnWriteArrayList<>();
    try (HikariDataSource service = pool("measured");
        StoreConnections own = StoreConnections.deriveFrom(service)) {
      assertThat(text(own, "SELECT 'before'")).isEqualTo("before");

      service.setMetricsTrackerFactory(
          (name, statistics) -> {
            measured.add(name);
            return new IMetricsTracker() {};
          });

      assertThat(text(own, "SELECT 'after'")).isEqualTo("after");
      assertThat(measured).contains("shop", "shop-idempotency");
    }
  }

  @Test
  void aGivenPoolWithTooFewConnectionsIsRefused() {
    try (HikariDataSource small = database.newAppPool(3)) {
      assertThatThrownBy(
              () -> PostgresIdempotencyStore.builder(database.app()).connections(small).build())
          .isInstanceOf(SetupException.class)
          .hasMessageContaining("the store's pool has 3 connections and needs 4");
    }
  }

  @Test
  void aServiceWithoutHikariNeedsNoClassOfHikari() {
    try (ServerProcess process =
        ServerProcess.start(
            part -> !part.contains("HikariCP"), WithoutHikari.class, database.appUrl())) {
      assertThat(process.awaitLine("claimed")).isEqualTo("Won, InFlight");
    }
  }

  /** The process of the test above. */
  static final class WithoutHikari {
    private WithoutHikari() {}

    @SuppressWarnings("SystemOut") // the test that started this process reads it
    public static void main(String[] arguments) {
      PGSimpleDataSource service = new PGSimpleDataSource();
      service.setUrl(arguments[0]);
      try (PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(service).build()) {
        var request = Things.claimOf(UUID.randomUUID(), Things.CREATE_THING);
        System.out.println(
            "claimed "
                + store.claim(request).getClass().getSimpleName()
                + ", "
                + store.claim(request).getClass().getSimpleName());
      }
    }
  }

  private static HikariDataSource pool(String application) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(database.appUrl() + "&ApplicationName=" + application);
    config.setPoolName("shop");
    config.setMaximumPoolSize(2);
    config.setMinimumIdle(0);
    config.setReadOnly(true);
    config.setAutoCommit(false);
    config.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
    config.setConnectionInitSql("SET search_path = app");
    config.setExceptionOverrideClassName(EvictReadOnly.class.getName());
    return new HikariDataSource(config);
  }

  private static boolean logsIn(String password) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(database.appUrl().replaceFirst("\\?.*", ""));
    try (Connection connection = source.getConnection("new_app", password)) {
      return connection.isValid(1);
    } catch (SQLException refused) {
      return false;
    }
  }

  private static String text(StoreConnections own, String query) {
    return own.use(
        connection -> {
          Optional<String> text =
              StatementBatch.run(connection, query, values -> values, row -> row.getString(1));
          return text.orElseThrow();
        });
  }

  private static int connectionsOf(String application) {
    return database.one(
        Integer.class,
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = ?",
        application);
  }
}
