package io.github.grpcidempotency.example.service.usage;

import static com.google.protobuf.util.Timestamps.fromMillis;
import static com.google.protobuf.util.Timestamps.toMillis;

import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.example.organization.v1.UsagePeriod;
import io.github.grpcidempotency.example.organization.v1.UsageStatement;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.ScheduleKey;
import io.github.grpcidempotency.postgres.ClaimTransaction;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.work.IdempotentWork;
import io.github.grpcidempotency.work.WorkRefusedException;
import io.github.grpcidempotency.work.WorkResult;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/**
 * Writes the usage statement of a period, once. Another run for the same instant, on any server,
 * returns the existing statement. Thread-safe.
 */
public final class UsageJob implements AutoCloseable {
  /**
   * The statement and its record are one commit. Customers are charged by the statement, which is
   * the reason for its retention.
   */
  static final Procedure KIND =
      Procedure.named("jobs/usage-statement")
          .execution(Execution.TRANSACTIONAL)
          .retention(Duration.ofDays(30))
          .build();

  /** The caller on whose behalf the job runs; not a person. */
  private static final Caller SCHEDULER =
      Caller.of(UUID.fromString("5c4ed01e-0000-4000-8000-000000000001"));

  private static final String STATE =
      """
      INSERT INTO billing.usage_statements (since, until, users, creates)
      SELECT :since, :until, count(DISTINCT user_id), count(*)
      FROM authz.outbox
      WHERE created >= :since AND created < :until
      RETURNING users, creates
      """;

  private final Jdbi jdbi;
  private final IdempotentWork work;
  private final Duration every;

  /**
   * Creates the job.
   *
   * @param pool of the worker's role, which sees every user's outbox
   * @param every the length of a period
   * @throws IllegalStateException if the library's check finds problems
   */
  public UsageJob(DataSource pool, Duration every, IdempotencyListener listener) {
    this.jdbi = Jdbi.create(pool);
    this.work =
        IdempotentWork.builder(PostgresIdempotencyStore.builder(pool).build(), KIND)
            .listener(listener)
            .build();
    this.every = every;
  }

  /** Returns the length of a period. */
  Duration every() {
    return every;
  }

  /** Returns the end of the last period, by the database's clock, which all servers share. */
  Instant lastDue() {
    return jdbi.withHandle(
        handle -> {
          Instant now =
              handle.createQuery("SELECT now()").mapTo(OffsetDateTime.class).one().toInstant();
          return now.minusMillis(Math.floorMod(now.toEpochMilli(), every.toMillis()))
              .truncatedTo(ChronoUnit.MILLIS);
        });
  }

  /**
   * Writes the statement of the period that ends at an instant, unless it exists already.
   *
   * @param due identifies the run, no matter which server starts it, and when
   * @throws WorkRefusedException if another server is running it, or if the period had another
   *     length at that time
   * @throws Exception if the database fails; no statement was written
   */
  public WorkResult<UsageStatement> run(Instant due) throws Exception {
    UsagePeriod period =
        UsagePeriod.newBuilder()
            .setSince(fromMillis(due.minus(every).toEpochMilli()))
            .setUntil(fromMillis(due.toEpochMilli()))
            .build();
    return work.run(
        KIND,
        SCHEDULER,
        ScheduleKey.of("usage-statement", due),
        period,
        UsageStatement.parser(),
        () -> state(ClaimTransaction.handle(), period));
  }

  private static UsageStatement state(Handle handle, UsagePeriod period) {
    return handle
        .createQuery(STATE)
        .bind("since", Instant.ofEpochMilli(toMillis(period.getSince())))
        .bind("until", Instant.ofEpochMilli(toMillis(period.getUntil())))
        .map(
            (row, context) ->
                UsageStatement.newBuilder()
                    .setPeriod(period)
                    .setUsers(row.getLong("users"))
                    .setCreates(row.getLong("creates"))
                    .build())
        .one();
  }

  @Override
  public void close() {
    work.close();
  }
}
