package io.github.grpcidempotency.example.service.usage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.example.MigratedDatabase;
import io.github.grpcidempotency.example.organization.v1.UsageStatement;
import io.github.grpcidempotency.example.run.database.EmbeddedDatabase;
import io.github.grpcidempotency.example.service.background.Repeating;
import io.github.grpcidempotency.work.WorkRefusedException;
import io.github.grpcidempotency.work.WorkResult;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Several schedulers on one database, and nothing but the library to keep them apart. */
class UsageTest {
  private static final Instant DUE = Instant.parse("2026-12-01T00:00:00Z");
  private static final Duration DAY = Duration.ofDays(1);

  private static final String STATED_TWICE =
      "SELECT count(*) FROM (SELECT FROM billing.usage_statements GROUP BY until HAVING count(*) > 1) AS twice";

  private static EmbeddedDatabase database;

  @BeforeAll
  static void startDatabase() {
    database = MigratedDatabase.start();
  }

  @AfterAll
  static void stopDatabase() {
    database.close();
  }

  @BeforeEach
  void noStatements() {
    try (Handle superuser = superuser()) {
      superuser.execute("TRUNCATE billing.usage_statements");
      superuser.execute("TRUNCATE idempotency.idempotency_keys");
      superuser.execute("DELETE FROM authz.outbox");
    }
  }

  @Test
  void aStatementCountsWhatAllUsersCreatedInItsPeriod() throws Exception {
    try (UsageJob job = job(DAY);
        Handle superuser = superuser()) {
      create(superuser, "2026-11-29T23:59:59Z");
      create(superuser, "2026-11-30T00:00:00Z");
      create(superuser, "2026-11-30T12:00:00Z");
      create(superuser, "2026-12-01T00:00:00Z");

      UsageStatement statement = job.run(DUE).value();
      assertThat(statement.getCreates()).isEqualTo(2);
      assertThat(statement.getUsers()).isEqualTo(2);
    }
  }

  @Test
  void aRunThatIsStartedAgainGivesTheStatementThatThereIs() throws Exception {
    try (UsageJob one = job(DAY);
        UsageJob other = job(DAY);
        Handle superuser = superuser()) {
      WorkResult<UsageStatement> first = one.run(DUE);
      create(superuser, "2026-11-30T12:00:00Z");
      WorkResult<UsageStatement> second = other.run(DUE);

      assertThat(first.replayed()).isFalse();
      assertThat(second.replayed()).isTrue();
      assertThat(second.value()).isEqualTo(first.value());
      assertThat(statements()).isOne();
    }
  }

  @Test
  void aPeriodOfAnotherLengthIsNotStatedUnderTheSameInstant() throws Exception {
    try (UsageJob daily = job(DAY);
        UsageJob hourly = job(Duration.ofHours(1))) {
      daily.run(DUE);
      assertThatThrownBy(() -> hourly.run(DUE))
          .isInstanceOfSatisfying(
              WorkRefusedException.class,
              refused ->
                  assertThat(refused.reason()).isEqualTo(RefusalReason.IDEMPOTENCY_KEY_REUSED));
      assertThat(statements()).isOne();
    }
  }

  @Test
  void twoServersThatRaceForManyInstantsStateEachOnce() throws Exception {
    int instants = 100;
    CyclicBarrier sameInstant = new CyclicBarrier(2);
    ExecutorService threads = Executors.newFixedThreadPool(2);
    int ran = 0;
    try (UsageJob one = job(DAY);
        UsageJob other = job(DAY)) {
      List<Callable<Integer>> servers = new ArrayList<>();
      for (UsageJob job : List.of(one, other)) {
        servers.add(
            () -> {
              int runs = 0;
              for (int day = 0; day < instants; day++) {
                sameInstant.await();
                runs += runOnce(job, DUE.plus(DAY.multipliedBy(day)));
              }
              return runs;
            });
      }
      for (Future<Integer> runs : threads.invokeAll(servers)) {
        ran += runs.get();
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(ran).isEqualTo(instants);
    assertThat(statements()).isEqualTo(instants);
    assertThat(count(STATED_TWICE)).isZero();
  }

  @Test
  void schedulersOfSeveralServersLeaveNoInstantOutAndStateNoneTwice() {
    Duration every = Duration.ofMillis(100);
    try (UsageJob one = job(every);
        UsageJob other = job(every);
        UsageJob third = job(every);
        Repeating first = UsageScheduler.start(one);
        Repeating second = UsageScheduler.start(other);
        Repeating last = UsageScheduler.start(third)) {
      await().atMost(Duration.ofMinutes(2)).until(() -> statements() >= 30);
      assertThat(List.of(first, second, last)).hasSize(3);
    }
    assertThat(count(STATED_TWICE)).isZero();
  }

  @Test
  void aPeriodOfNoLengthIsRefused() {
    assertThatThrownBy(() -> job(Duration.ZERO))
        .hasMessage("a period of usage lasts at least 100 ms, not PT0S");
  }

  private static int runOnce(UsageJob job, Instant due) throws Exception {
    try {
      return job.run(due).replayed() ? 0 : 1;
    } catch (WorkRefusedException e) {
      assertThat(e.reason()).isEqualTo(RefusalReason.IDEMPOTENCY_IN_PROGRESS);
      return 0;
    }
  }

  private static UsageJob job(Duration every) {
    return new UsageJob(database.worker(), every);
  }

  private static void create(Handle superuser, String created) {
    UUID project = UUID.randomUUID();
    UUID user = UUID.randomUUID();
    superuser.execute(
        "INSERT INTO tenant.projects (id, user_id, organization, name) VALUES (?, ?, '', 'apollo')",
        project,
        user);
    superuser.execute(
        """
        INSERT INTO authz.outbox (
          user_id, resource_name, subject, relation, object, next_attempt, created, project_id
        )
        VALUES (?, 'apollo', '', '', '', now(), CAST(? AS timestamptz), ?)
        """,
        user,
        created,
        project);
  }

  private static int statements() {
    return count("SELECT count(*) FROM billing.usage_statements");
  }

  private static int count(String sql) {
    try (Handle superuser = superuser()) {
      return superuser.createQuery(sql).mapTo(Integer.class).one();
    }
  }

  private static Handle superuser() {
    return Jdbi.open(database.superuser());
  }
}
