package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.assertj.core.api.AbstractThrowableAssert;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The store makes a trial call before the first real one, on every connection that it uses. */
class StartupProbeTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private final KeyTable table = new KeyTable(database);

  /** As on engines that accept the function and lock nothing. */
  @BeforeAll
  static void imitateALock() {
    database.execute("CREATE SCHEMA imitation");
    database.execute("GRANT USAGE ON SCHEMA imitation TO things_app");
    database.execute(
        "CREATE FUNCTION imitation.pg_try_advisory_xact_lock(bigint) RETURNS boolean"
            + " RETURN true");
  }

  @AfterEach
  void nothingIsLeftBehind() {
    database.awaitAllConnectionsBack();
    assertThat(table.size()).isZero();
    assertThat(table.count("SELECT count(*) FROM idempotency.idempotency_waits")).isZero();
    database.execute("ALTER TABLE idempotency.idempotency_keys DROP CONSTRAINT IF EXISTS own");
    database.execute("ALTER FUNCTION idempotency.renew_leases OWNER TO things_owner");
    database.execute("SELECT idempotency.grant_to('things_app')");
    database.execute("ALTER POLICY maintenance ON idempotency.idempotency_keys TO things_owner");
  }

  @Test
  void theCheckTakesAFewDozenRoundTrips() {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource pool = PostgresThingServer.pool(proxy.jdbcUrl())) {
      verify(pool, Things.TRANSACTIONAL);

      assertThat(proxy.roundTrips()).hasSizeBetween(15, 50);
    }
  }

  @Test
  void aPoolWithoutAutocommitIsRefusedForStatementsOfTheStore() {
    try (HikariDataSource own =
        pool(
            config -> {
              config.setMaximumPoolSize(4);
              config.setAutoCommit(false);
            })) {
      assertThatVerifying(database.app(), own)
          .hasMessageContaining("the store's pool must give connections in autocommit mode");
    }
  }

  @Test
  void aPoolWithoutAutocommitServesReservedProceduresButNoTransactionalOnes() {
    try (HikariDataSource service = pool(config -> config.setAutoCommit(false))) {
      verify(service, Things.CREATE_THING);
      assertThatVerifying(service, Things.TRANSACTIONAL)
          .hasMessageContaining("the service's pool must give connections in autocommit mode");
    }
  }

  @Test
  void connectionsToAnotherDatabaseAreRefusedForTransactionalProcedures() {
    try (TestDatabase other = TestDatabase.create()) {
      assertThatVerifying(database.app(), other.app(), Things.TRANSACTIONAL)
          .hasMessageContaining("handlers' transactions are on another database");
    }
  }

  @Test
  void aDatabaseThatIsReadOnlyIsRefused() {
    try (HikariDataSource readOnly =
        withSettings("options=-c%20default_transaction_read_only=on")) {
      assertThatVerifying(readOnly)
          .hasMessageContaining("the store's pool gives connections that are read-only");
      assertThatVerifying(readOnly, database.app(), Things.TRANSACTIONAL)
          .hasMessageContaining("the service's pool gives connections that are read-only");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"preferQueryMode=simple", "prepareThreshold=-1"})
  void aDriverThatSendsAFlushInPiecesIsRefusedByName(String setting) {
    try (HikariDataSource pool = withSettings(setting)) {
      assertThatVerifying(pool)
          .hasMessageContaining("the store's pool sends the statements of a flush separately")
          .hasMessageContaining(setting);
    }
  }

  @Test
  void anAdvisoryLockThatExcludesNobodyIsRefusedForTransactionalProcedures() {
    try (HikariDataSource pool =
        withSettings("options=-c%20search_path=imitation,pg_catalog,public")) {
      verify(pool, Things.CREATE_THING);
      assertThatVerifying(pool, Things.TRANSACTIONAL)
          .hasMessageContaining("advisory locks do not keep duplicates of transactional calls out");
    }
  }

  @Test
  void aPoolOfOneConnectionIsAccepted() {
    try (HikariDataSource pool = pool(config -> config.setMaximumPoolSize(1))) {
      verify(pool, Things.TRANSACTIONAL);
    }
  }

  @Test
  void aFailureIsReportedTogetherWithAllOtherProblems() {
    database.execute(
        "ALTER TABLE idempotency.idempotency_keys ADD CONSTRAINT own CHECK (procedure LIKE 'a.%')");

    assertThatVerifying(
            database.app(),
            Procedure.annotated(ThingServiceGrpc.getCreateThingMethod())
                .status(OutboxQuery.of("SELECT state FROM app.outbox, :resource_id").build())
                .build())
        .hasMessageContaining("its outbox query fails")
        .hasMessageContaining("a trial call of the start-up check could not claim a key")
        .hasMessageContaining("violates check constraint \"own\"");
  }

  @Test
  void aRecordThatCannotBeCompletedLeavesNothingBehind() {
    database.execute(
        "ALTER TABLE idempotency.idempotency_keys ADD CONSTRAINT own CHECK (completed IS NULL)");

    assertThatVerifying(database.app(), Things.TRANSACTIONAL)
        .hasMessageContaining("a trial call of the start-up check could not record its answer")
        .hasMessageContaining("violates check constraint \"own\"");
  }

  @Test
  void rowLevelSecurityThatIsAnErrorInsteadIsRefused() {
    try (HikariDataSource pool = withSettings("options=-c%20row_security=off")) {
      assertThatVerifying(pool).hasMessageContaining("would be affected by row-level security");
    }
  }

  @Test
  void functionsOfAnotherOwnerThanTheTablesAreRefused() {
    database.execute("ALTER FUNCTION idempotency.renew_leases OWNER TO things_app");

    assertThatVerifying(database.app())
        .hasMessageContaining("idempotency.renew_leases belongs to things_app")
        .hasMessageContaining("to things_owner; give both the same owner");
  }

  @Test
  void aPolicyThatLetsEverybodyMaintainIsRefused() {
    database.execute("ALTER POLICY maintenance ON idempotency.idempotency_keys TO PUBLIC");

    assertThatVerifying(database.app())
        .hasMessageContaining(
            "the policy maintenance of idempotency.idempotency_keys is not granted");
  }

  /** As where a database takes from PUBLIC what it may execute. */
  @Test
  void theUsersFunctionMayBeExecutedOnceItIsGranted() {
    database.execute("REVOKE ALL ON FUNCTION idempotency.current_user_id FROM PUBLIC, things_app");
    assertThatVerifying(database.app())
        .hasMessageContaining("call SELECT idempotency.grant_to('things_app')");

    database.execute("SELECT idempotency.grant_to('things_app')");
    verify(database.app());
  }

  @Test
  void anUnreachableDatabaseIsNotReportedAsMisconfigured() {
    try (HikariDataSource nowhere =
        PostgresThingServer.pool("jdbc:postgresql://127.0.0.1:1/none")) {
      assertThatThrownBy(() -> verify(nowhere)).isInstanceOf(StoreException.class);
    }
  }

  /** A trial call with its server's own lease would be taken over by its duplicate. */
  @Test
  void aDatabaseThatIsSlowerThanALeaseIsNotReportedAsMisconfigured() {
    try (TestDatabase slow = TestDatabase.create()) {
      slow.execute(
          """
          CREATE OR REPLACE FUNCTION idempotency.current_user_id() RETURNS uuid
            LANGUAGE sql STABLE
            BEGIN ATOMIC
              SELECT pg_sleep(0.06);
              SELECT NULLIF(current_setting('app.current_user_id', true), '')::uuid;
            END
          """);
      PostgresIdempotencyStore.builder(slow.app())
          .lease(Duration.ofMillis(100))
          .build()
          .verify(List.of(), Optional.empty());
    }
  }

  /** As while somebody migrates. */
  @Test
  void aTableThatIsLockedForAWhileIsNotReportedAsMisconfigured() {
    try (HikariDataSource pool = withSettings("options=-c%20lock_timeout=100");
        Handle migration = database.superuser().open()) {
      migration.begin();
      migration.execute("LOCK TABLE idempotency.idempotency_keys IN SHARE ROW EXCLUSIVE MODE");

      assertThatThrownBy(() -> verify(pool)).isInstanceOf(StoreException.class);

      migration.rollback();
      verify(pool);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"INSERT INTO idempotency.idempotency_keys", "COMMIT", "pg_try_advisory_xact_lock"})
  void aCheckWhoseConnectionIsCutStartsAgain(String statement) {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource pool = PostgresThingServer.pool(proxy.jdbcUrl())) {
      FaultProxy.Trap trap = proxy.cutBefore(statement);

      verify(pool, Things.TRANSACTIONAL);

      assertThat(trap.hasSprung()).isTrue();
    }
  }

  @Test
  void aCheckWhoseConnectionsKeepBreakingFailsWithThisReason() {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource pool = PostgresThingServer.pool(proxy.jdbcUrl());
        LogLines log = LogLines.listen()) {
      for (int i = 0; i < 10; i++) {
        proxy.cutBefore("pg_try_advisory_xact_lock");
      }

      assertThatThrownBy(() -> verify(pool, Things.TRANSACTIONAL))
          .isInstanceOfSatisfying(
              StoreException.class,
              failure ->
                  assertThat(failure.failureCause()).isEqualTo(FailureCause.CONNECTION_LOST));
      assertThat(log.warnings())
          .filteredOn(line -> line.contains("a connection to the database broke"))
          .hasSize(4);
    }
  }

  @Test
  void aPoolThatIsRefusedALoginIsNamedWithTheDatabasesAnswer() {
    database.execute("ALTER ROLE things_app NOLOGIN");
    try (HikariDataSource refused =
        PostgresThingServer.pool(database.appUrl(), Duration.ofMillis(250))) {
      assertThatVerifying(refused)
          .hasMessageContaining("the store's pool cannot log in")
          .hasMessageContaining("role \"things_app\" is not permitted to log in (SQLSTATE 28000)");
    } finally {
      database.execute("ALTER ROLE things_app LOGIN");
    }
  }

  private static AbstractThrowableAssert<?, ? extends Throwable> assertThatVerifying(
      DataSource pool, DataSource connections, Procedure... procedures) {
    return assertThatThrownBy(
            () ->
                Things.verify(
                    PostgresIdempotencyStore.builder(pool).connections(connections).build(),
                    procedures))
        .isInstanceOf(SetupException.class);
  }

  private static AbstractThrowableAssert<?, ? extends Throwable> assertThatVerifying(
      DataSource pool, Procedure... procedures) {
    return assertThatThrownBy(() -> verify(pool, procedures)).isInstanceOf(SetupException.class);
  }

  private static void verify(DataSource pool, Procedure... procedures) {
    try (PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(pool).build()) {
      Things.verify(store, procedures);
    }
  }

  private HikariDataSource withSettings(String settings) {
    return PostgresThingServer.pool(database.appUrl() + "&" + settings);
  }

  private HikariDataSource pool(Consumer<HikariConfig> settings) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(database.appUrl());
    config.setMaximumPoolSize(3);
    config.setConnectionTimeout(10_000);
    settings.accept(config);
    return new HikariDataSource(config);
  }
}
