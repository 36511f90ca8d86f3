package io.github.grpcidempotency.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresFixtureTest {
  private static final String SCHEMA =
      """
      CREATE TABLE kind (name text PRIMARY KEY);
      INSERT INTO kind VALUES ('good');
      CREATE TABLE thing (
        id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        kind text NOT NULL REFERENCES kind,
        mine boolean NOT NULL
      );
      CREATE TABLE part (thing_id bigint NOT NULL REFERENCES thing);
      CREATE TABLE secret (word text);
      ALTER TABLE thing ENABLE ROW LEVEL SECURITY;
      CREATE POLICY mine ON thing USING (mine) WITH CHECK (true);
      GRANT SELECT, INSERT ON kind, thing, part TO test_app;
      """;

  private static final AtomicInteger migrations = new AtomicInteger();
  private static final PostgresFixture.Builder BUILDER =
      PostgresFixture.withRoles("test_owner", "test_app")
          .migrate(owner -> execute(owner, SCHEMA))
          .migrate(owner -> migrations.incrementAndGet());

  @RegisterExtension static final PostgresFixture database = BUILDER.create();

  @RepeatedTest(2)
  void everyTestBeginsWithTheStateAfterTheMigrations() throws SQLException {
    assertThat(query(database.superuser(), "SELECT string_agg(name, ',') FROM kind"))
        .isEqualTo("good");
    assertThat(count(database.superuser(), "thing")).isZero();

    execute(database.superuser(), "INSERT INTO thing (kind, mine) VALUES ('good', true)");

    assertThat(query(database.superuser(), "SELECT id FROM thing")).isEqualTo("1");
    execute(database.superuser(), "INSERT INTO part VALUES (1)");
  }

  @Test
  void aDatabaseThatTheApplicationMigratesIsResetToItsStateAfterTheMigration() throws SQLException {
    PostgresFixture empty = PostgresFixture.withRoles("test_owner", "test_app").create();
    execute(empty.owner(), SCHEMA);
    empty.reset();
    execute(
        empty.superuser(),
        "INSERT INTO kind VALUES ('new'); INSERT INTO thing (kind, mine) VALUES ('good', true)");

    empty.reset();

    assertThat(count(empty.superuser(), "thing")).isZero();
    assertThat(count(empty.superuser(), "kind")).isEqualTo(2);
  }

  @Test
  void theApplicationIsBoundByRowLevelSecurityAndTheSuperuserIsNot() throws SQLException {
    execute(
        database.pool(), "INSERT INTO thing (kind, mine) VALUES ('good', true), ('good', false)");

    assertThat(count(database.pool(), "thing")).isEqualTo(1);
    assertThat(count(database.superuser(), "thing")).isEqualTo(2);
    assertThat(query(database.pool(), "SELECT current_user")).isEqualTo("test_app");
    assertThat(query(database.owner(), "SELECT current_user")).isEqualTo("test_owner");
  }

  @Test
  void theApplicationHasOnlyTheRightsThatTheMigrationsGrant() {
    assertThatExceptionOfType(SQLException.class)
        .isThrownBy(() -> execute(database.pool(), "SELECT FROM secret"))
        .withMessageContaining("permission denied");
    assertThatExceptionOfType(SQLException.class)
        .isThrownBy(() -> execute(database.pool(), "DROP TABLE part"))
        .withMessageContaining("must be owner");
  }

  @Test
  void anotherFixtureOfTheSameBuilderIsACopyThatIsNotMigratedAgain() throws SQLException {
    execute(database.superuser(), "INSERT INTO thing (kind, mine) VALUES ('good', true)");

    try (PostgresFixture other = BUILDER.create()) {
      assertThat(count(other.pool(), "kind")).isEqualTo(1);
      assertThat(count(other.pool(), "thing")).isZero();
    }
    assertThat(migrations).hasValue(1);
  }

  @Test
  void aClosedFixtureCanBeUsedAgain() throws SQLException {
    PostgresFixture other = BUILDER.create();
    HikariDataSource first = other.pool();
    HikariDataSource second = other.newPool(1);
    assertThat(other.pool()).isSameAs(first);
    execute(first, "INSERT INTO thing (kind, mine) VALUES ('good', true)");

    other.close();

    assertThat(first.isClosed()).isTrue();
    assertThat(second.isClosed()).isTrue();
    assertThat(count(other.pool(), "thing")).isEqualTo(1);
    other.close();
  }

  @Test
  void aRunningServerCanBeUsed() throws SQLException {
    PostgresFixture.Builder named =
        PostgresFixture.withRoles("named_owner", "named_app")
            .server(database.jdbcUrl("somebody") + "&loggerLevel=OFF", "postgres", "")
            .migrate(owner -> execute(owner, "CREATE TABLE t (); GRANT SELECT ON t TO named_app"));
    try (PostgresFixture other = named.create()) {
      assertThat(query(other.pool(), "SELECT current_user")).isEqualTo("named_app");
      assertThat(other.jdbcUrl("named_app"))
          .contains("?user=named_app&password=", "&loggerLevel=OFF")
          .doesNotContain("somebody");
      assertThat(count(other.pool(), "t")).isZero();
    }
  }

  @Test
  void anApplicationThatBypassesRowLevelSecurityIsRefused() {
    try (PostgresFixture superuser = PostgresFixture.withRoles("test_owner", "postgres").create()) {
      assertThatIllegalStateException()
          .isThrownBy(superuser::pool)
          .withMessageContaining("postgres bypasses row-level security");
    }
  }

  @Test
  void aFailedMigrationIsReported() {
    PostgresFixture.Builder broken =
        PostgresFixture.withRoles("test_owner", "test_app")
            .migrate(owner -> execute(owner, "SELECT nonsense"));
    try (PostgresFixture unmigrated = broken.create()) {
      assertThatIllegalStateException()
          .isThrownBy(unmigrated::owner)
          .withRootCauseInstanceOf(SQLException.class);
    }
  }

  @Test
  void invalidArgumentsAreRefusedAtOnce() {
    assertThatIllegalArgumentException().isThrownBy(() -> PostgresFixture.withRoles("a b", "c"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PostgresFixture.withRoles("a", "b").server("jdbc:other:", "", ""));
    assertThatIllegalStateException().isThrownBy(() -> BUILDER.migrate(owner -> {}));
  }

  private static int count(DataSource dataSource, String table) throws SQLException {
    return Integer.parseInt(query(dataSource, "SELECT count(*) FROM " + table));
  }

  private static String query(DataSource dataSource, String sql) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      result.next();
      return result.getString(1);
    }
  }

  private static void execute(DataSource dataSource, String sql) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
