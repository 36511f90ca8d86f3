package io.github.grpcidempotency.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.spi.UnfinishedWork.Backlog;
import io.github.grpcidempotency.testing.PostgresFixture;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

class DatabaseMetricsTest {
  private static final Duration OFTEN = Duration.ofMillis(20);
  private static final Duration SELDOM = Duration.ofHours(1);
  private static final List<MetricName> GAUGES =
      List.of(
          MetricName.DATABASE_ROWS,
          MetricName.DATABASE_DEAD_ROWS,
          MetricName.DATABASE_SIZE,
          MetricName.DATABASE_IN_FLIGHT,
          MetricName.DATABASE_STUCK,
          MetricName.DATABASE_UNKNOWN,
          MetricName.DATABASE_OLDEST,
          MetricName.DATABASE_EXPIRED,
          MetricName.DATABASE_SWEEP_LAG);

  @RegisterExtension
  static final PostgresFixture database =
      PostgresFixture.withRoles("metrics_owner", "metrics_app")
          .migrate(IdempotencySchema::migrate)
          .migrate(owner -> execute(owner, "SELECT idempotency.add_in_flight_index()"))
          .migrate(owner -> execute(owner, "SELECT idempotency.grant_to('metrics_app')"))
          .create();

  static final Procedures WITH_OUTBOX =
      Procedures.of(
          Procedure.annotated(ThingServiceGrpc.getCreateThingMethod())
              .status(
                  OutboxQuery.of("SELECT status FROM outbox WHERE thing_id = :resource_id LIMIT 1")
                      .map(IdempotencyStatus.COMPLETED, "done")
                      .build())
              .build());

  private final MockClock clock = new MockClock();
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);

  private Optional<DatabaseMetrics> started = Optional.empty();

  @Test
  void theFiguresOfTheTableAreExported() throws SQLException {
    execute(
        database.superuser(),
        """
        INSERT INTO idempotency.idempotency_keys
          (id, idempotency_key, user_uuid, procedure, request_hash, hash_version, lease_expires,
           outcome_unknown, created, completed, expires)
        SELECT gen_random_uuid(), name, gen_random_uuid(), 'shop.v1.Orders/CreateOrder', '', 1,
               now() + lease, unknown, now() - age, now() - completed, now() + expires
          FROM (VALUES
            ('running', interval '1 min', false, interval '10 min', NULL::interval, interval '1 h'),
            ('stuck', interval '-1 min', false, interval '20 min', NULL, interval '1 h'),
            ('unknown', interval '1 min', true, interval '30 min', NULL, interval '1 h'),
            ('recorded', NULL, false, interval '40 min', interval '39 min', interval '1 h'),
            ('expired', NULL, false, interval '50 min', interval '49 min', interval '-5 min'),
            ('expired, too', NULL, false, interval '1 h', interval '59 min', interval '-7 min'))
            AS row (name, lease, unknown, age, completed, expires)
        """);
    execute(database.superuser(), "ANALYZE idempotency.idempotency_keys");

    start(DatabaseMetrics.builder(registry, database.pool(), "idempotency"));
    await().untilAsserted(() -> assertThat(value(MetricName.DATABASE_ROWS)).isEqualTo(6));

    assertThat(value(MetricName.DATABASE_SIZE)).isGreaterThan(8_192);
    assertThat(value(MetricName.DATABASE_IN_FLIGHT)).isEqualTo(3);
    assertThat(value(MetricName.DATABASE_STUCK)).isEqualTo(1);
    assertThat(value(MetricName.DATABASE_UNKNOWN)).isEqualTo(1);
    assertThat(value(MetricName.DATABASE_OLDEST)).isCloseTo(30 * 60, within(60.0));
    assertThat(value(MetricName.DATABASE_EXPIRED)).isEqualTo(2);
    assertThat(value(MetricName.DATABASE_SWEEP_LAG)).isCloseTo(7 * 60, within(60.0));
  }

  @Test
  void anEmptyTableHasNothingOldAndNoLag() {
    start(DatabaseMetrics.builder(registry, database.pool(), "idempotency"));
    await().untilAsserted(() -> assertThat(value(MetricName.DATABASE_IN_FLIGHT)).isZero());

    assertThat(value(MetricName.DATABASE_OLDEST)).isZero();
    assertThat(value(MetricName.DATABASE_SWEEP_LAG)).isZero();
  }

  @Test
  void rowsThatVacuumCannotRemoveAreCountedUntilItCan() throws SQLException {
    start(every(OFTEN));
    try (Connection old = database.superuser().getConnection();
        Statement snapshot = old.createStatement()) {
      old.setAutoCommit(false);
      old.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      snapshot.execute("SELECT 1");
      execute(
          database.superuser(),
          """
          INSERT INTO idempotency.idempotency_keys
            (id, idempotency_key, user_uuid, procedure, request_hash, hash_version, completed, expires)
          SELECT gen_random_uuid(), 'dead ' || n, gen_random_uuid(), 'shop.v1.Orders/CreateOrder',
                 '', 1, now(), now() + interval '1 h'
            FROM generate_series(1, 500) AS n
          """);
      execute(
          database.superuser(),
          "DELETE FROM idempotency.idempotency_keys WHERE idempotency_key LIKE 'dead %'");
      execute(database.superuser(), "VACUUM idempotency.idempotency_keys");

      await()
          .untilAsserted(
              () -> assertThat(value(MetricName.DATABASE_DEAD_ROWS)).isGreaterThanOrEqualTo(500));
      old.rollback();
    }

    execute(database.superuser(), "VACUUM idempotency.idempotency_keys");
    await().untilAsserted(() -> assertThat(value(MetricName.DATABASE_DEAD_ROWS)).isZero());
  }

  @ParameterizedTest
  @ValueSource(ints = {-90, 3_600})
  void aJumpOfTheDatabasesClockIsCounted(int seconds) throws SQLException {
    execute(
        database.superuser(),
        """
        DROP SCHEMA IF EXISTS fake CASCADE;
        CREATE SCHEMA fake;
        CREATE TABLE fake.jump AS SELECT interval '0' AS by;
        CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz
          LANGUAGE sql RETURN pg_catalog.clock_timestamp() + (SELECT by FROM fake.jump);
        GRANT USAGE ON SCHEMA fake TO metrics_app;
        GRANT SELECT ON fake.jump TO metrics_app
        """);
    PGSimpleDataSource faked = new PGSimpleDataSource();
    faked.setUrl(database.jdbcUrl("metrics_app"));
    faked.setCurrentSchema("fake,pg_catalog");
    start(DatabaseMetrics.builder(registry, faked, "idempotency").every(OFTEN));
    await().untilAsserted(() -> assertThat(value(MetricName.DATABASE_IN_FLIGHT)).isZero());
    assertThat(clockJumps()).isZero();

    execute(database.superuser(), "UPDATE fake.jump SET by = interval '%d s'".formatted(seconds));

    await().untilAsserted(() -> assertThat(clockJumps()).isCloseTo(Math.abs(seconds), within(1.0)));
  }

  @Test
  void theDurationOfTheQueriesIsNoJump() {
    Statistics first = clockAt(1_000, 0, 4);
    assertThat(clockAt(1_014, 10, 12).clockJumpSince(first)).isCloseTo(2, within(0.001));
    assertThat(clockAt(1_012, 10, 12).clockJumpSince(first)).isZero();
    assertThat(clockAt(1_006, 10, 12).clockJumpSince(first)).isZero();
    assertThat(clockAt(1_005, 10, 12).clockJumpSince(first)).isCloseTo(-1, within(0.001));
  }

  private static Statistics clockAt(double databaseSeconds, int begun, int ended) {
    return new Statistics(
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        databaseSeconds,
        TimeUnit.SECONDS.toNanos(begun),
        TimeUnit.SECONDS.toNanos(ended));
  }

  @Test
  void theUnfinishedWorkIsExportedUntilItCannotBeRead() {
    AtomicBoolean broken = new AtomicBoolean();
    start(
        every(OFTEN)
            .work(
                () -> {
                  if (broken.get()) {
                    throw new NoSuchMethodError("a method of the driver");
                  }
                  return Map.of("shop.v1.Orders/CreateOrder", new Backlog(7, Duration.ofHours(1)));
                },
                List.of("shop.v1.Orders/CreateOrder")));
    await().untilAsserted(() -> assertThat(value(MetricName.WORK_UNFINISHED)).isEqualTo(7));
    assertThat(value(MetricName.WORK_OLDEST)).isEqualTo(3_600);

    broken.set(true);

    await().untilAsserted(() -> assertThat(value(MetricName.WORK_OLDEST)).isNaN());
    assertThat(value(MetricName.WORK_UNFINISHED)).isNaN();
    await().untilAsserted(() -> assertThat(value(MetricName.DATABASE_IN_FLIGHT)).isZero());
  }

  @Test
  void readingThemAllReadsTheDatabaseOnce() {
    start(every(SELDOM));
    await().untilAsserted(() -> assertThat(value(MetricName.DATABASE_IN_FLIGHT)).isZero());

    for (int scrape = 0; scrape < 10; scrape++) {
      GAUGES.forEach(this::value);
    }

    assertThat(registry.get(MetricName.DATABASE_READS.meter()).timer().count()).isEqualTo(1);
  }

  @Test
  void aDatabaseThatFailsExportsNoFiguresUntilItAnswersAgain() throws SQLException {
    start(every(OFTEN));
    await().untilAsserted(() -> assertThat(value(MetricName.DATABASE_IN_FLIGHT)).isZero());

    execute(
        database.owner(), "REVOKE EXECUTE ON FUNCTION idempotency.statistics() FROM metrics_app");
    await()
        .untilAsserted(
            () -> assertThat(GAUGES).allSatisfy(gauge -> assertThat(value(gauge)).isNaN()));
    await().untilAsserted(() -> assertThat(failures()).isGreaterThan(1));

    execute(database.owner(), "SELECT idempotency.grant_to('metrics_app')");
    await().untilAsserted(() -> assertThat(value(MetricName.DATABASE_IN_FLIGHT)).isZero());
  }

  @Test
  void anErrorOfADriverDoesNotEndTheReads() {
    AtomicBoolean broken = new AtomicBoolean(true);
    DataSource upgraded = failingWhile(broken, new NoSuchMethodError("a method of the driver"));
    start(DatabaseMetrics.builder(registry, upgraded, "idempotency").every(OFTEN));
    await().untilAsserted(() -> assertThat(failures()).isGreaterThan(1));
    assertThat(value(MetricName.DATABASE_IN_FLIGHT)).isNaN();

    broken.set(false);

    await().untilAsserted(() -> assertThat(value(MetricName.DATABASE_IN_FLIGHT)).isZero());
  }

  @Test
  void anErrorRemovesTheFiguresOfTheLastRead() {
    AtomicBoolean broken = new AtomicBoolean();
    DataSource upgraded = failingWhile(broken, new NoSuchMethodError("a method of the driver"));
    start(DatabaseMetrics.builder(registry, upgraded, "idempotency").every(OFTEN));
    await().untilAsserted(() -> assertThat(value(MetricName.DATABASE_IN_FLIGHT)).isZero());

    broken.set(true);

    await().untilAsserted(() -> assertThat(value(MetricName.DATABASE_IN_FLIGHT)).isNaN());
  }

  /** Returns a data source that throws an error instead of connecting, while a condition holds. */
  private static DataSource failingWhile(AtomicBoolean broken, Error error) {
    PGSimpleDataSource driver =
        new PGSimpleDataSource() {
          @Override
          public Connection getConnection() throws SQLException {
            if (broken.get()) {
              throw error;
            }
            return super.getConnection();
          }
        };
    driver.setUrl(database.jdbcUrl("metrics_app"));
    return driver;
  }

  @Test
  void figuresOfADatabaseThatHangsGrowOldAndVanish() {
    start(every(SELDOM));
    await().untilAsserted(() -> assertThat(value(MetricName.DATABASE_IN_FLIGHT)).isZero());

    clock.add(SELDOM);
    assertThat(value(MetricName.DATABASE_IN_FLIGHT)).isZero();
    clock.add(SELDOM.multipliedBy(2));
    assertThat(value(MetricName.DATABASE_IN_FLIGHT)).isNaN();
  }

  @Test
  void aStatementThatTakesTooLongIsGivenUp() throws SQLException {
    try (Connection locked = database.superuser().getConnection();
        Statement statement = locked.createStatement()) {
      locked.setAutoCommit(false);
      statement.execute("LOCK TABLE idempotency.idempotency_keys IN ACCESS EXCLUSIVE MODE");

      start(
          DatabaseMetrics.builder(registry, database.pool(), "idempotency")
              .timeout(Duration.ofSeconds(1)));
      await().untilAsserted(() -> assertThat(failures()).isEqualTo(1));
    }
  }

  @Test
  void nothingIsLeftOnceItIsClosed() {
    start(every(OFTEN));

    stop();

    assertThat(registry.getMeters()).isEmpty();
    await()
        .untilAsserted(
            () ->
                assertThat(Thread.getAllStackTraces().keySet())
                    .noneMatch(thread -> thread.getName().equals("idempotency-database-metrics")));
  }

  @Test
  void aTagDistinguishesSeveralDatabasesInOneRegistry() {
    start(every(OFTEN).tag(MetricTags.SHARD, "east"));
    DatabaseMetrics west = every(OFTEN).tag(MetricTags.SHARD, "west").start();
    for (String shard : List.of("east", "west")) {
      await().untilAsserted(() -> assertThat(inFlight(shard).value()).isZero());
    }
    assertThatIllegalStateException()
        .isThrownBy(() -> every(OFTEN).tag(MetricTags.SHARD, "east").start())
        .withMessageContaining("shard");
    assertThatIllegalStateException().isThrownBy(() -> every(OFTEN).start());

    west.close();
    assertThat(inFlight("east").value()).isZero();
  }

  private Gauge inFlight(String shard) {
    return registry.get(MetricName.DATABASE_IN_FLIGHT.meter()).tag(MetricTags.SHARD, shard).gauge();
  }

  @Test
  void aSchemaIsAPlainIdentifier() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> DatabaseMetrics.builder(registry, database.pool(), "a; DROP TABLE b").start());
  }

  @AfterEach
  void stop() {
    started.ifPresent(DatabaseMetrics::close);
  }

  private void start(DatabaseMetrics.Builder settings) {
    started = Optional.of(settings.start());
  }

  private DatabaseMetrics.Builder every(Duration pause) {
    return DatabaseMetrics.builder(registry, database.pool(), "idempotency").every(pause);
  }

  private double value(MetricName gauge) {
    return registry.get(gauge.meter()).tag("schema", "idempotency").gauge().value();
  }

  private double clockJumps() {
    return registry.get(MetricName.DATABASE_CLOCK_JUMPS.meter()).counter().count();
  }

  private double failures() {
    return registry.get(MetricName.DATABASE_READ_FAILURES.meter()).counter().count();
  }

  private static void execute(DataSource source, String sql) throws SQLException {
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
