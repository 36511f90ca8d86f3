package io.github.grpcidempotency.example.service.usage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.example.Databases;
import io.github.grpcidempotency.example.organization.v1.UsageStatement;
import io.github.grpcidempotency.example.run.Database;
import io.github.grpcidempotency.example.service.background.Repeating;
import io.github.grpcidempotency.work.WorkRefusedException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Several schedulers on one database, and nothing but the library to keep them apart. */
class UsageTest {
  private static final Instant DUE = Instant.parse("2026-12-01T00:00:00Z");
  private static final Duration DAY = Duration.ofDays(1);

  private static final String STATED_TWICE =
      "SELECT count(*) FROM (SELECT FROM billing.usage_statements GROUP BY until HAVING count(*) > 1) AS twice";

  private static Database database;

  @BeforeAll
  static void startDatabase() {
    database = Databases.copy();
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
  void schedulersOfSeveralServersLeaveNoInstantOutAndStateNoneTwice() {
    Duration every = Duration.ofMillis(100);
    try (UsageJob one = job(every);
        UsageJob other = job(every);
        Repeating first = UsageScheduler.start(one);
        Repeating last = UsageScheduler.start(other)) {
      await().atMost(Duration.ofMinutes(2)).until(() -> statements() >= 10);
      assertThat(List.of(first, last)).hasSize(2);
    }
    assertThat(count(STATED_TWICE)).isZero();
  }

  private static UsageJob job(Duration every) {
    return new UsageJob(database.worker(), every, new IdempotencyListener() {});
  }

  private static void create(Handle superuser, String created) {
    superuser.execute(
        """
        INSERT INTO authz.outbox (
          user_id, resource_id, resource_name, subject, relation, object, next_attempt, created
        )
        VALUES (?, ?, 'apollo', '', '', '', now(), CAST(? AS timestamptz))
        """,
        UUID.randomUUID(),
        UUID.randomUUID(),
        created);
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
