package io.github.grpcidempotency.features;

import com.google.protobuf.Int64Value;
import com.google.protobuf.StringValue;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.postgres.ClaimJdbi;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.work.IdempotentWork;
import io.github.grpcidempotency.work.WorkResult;
import java.time.Instant;
import java.util.List;
import javax.sql.DataSource;

/** A scheduled job runs once, although two schedulers start it. */
final class WorkWithoutGrpc {
  private static final Procedure CLOSE_MONTH =
      Procedure.named("jobs/close-month").execution(Execution.TRANSACTIONAL).build();
  private static final Caller SYSTEM = Caller.ofSubject("system");

  private final IdempotentWork work;

  private WorkWithoutGrpc(IdempotentWork work) {
    this.work = work;
  }

  /**
   * Deletes all orders, and returns their number.
   *
   * @param due the time at which the scheduler should start the job
   */
  private WorkResult<Int64Value> closeMonth(Instant due) throws Exception {
    return work.run(
        CLOSE_MONTH,
        SYSTEM,
        "job:close-month:" + due, // every scheduler computes the same key
        StringValue.of(due.toString()), // the input of the job
        Int64Value.parser(),
        () -> Int64Value.of(ClaimJdbi.handle().execute("DELETE FROM shop.orders")));
  }

  static List<WorkResult<Int64Value>> run(DataSource pool) throws Exception {
    try (PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(pool).build();
        IdempotentWork work = IdempotentWork.builder(store, CLOSE_MONTH).build()) {
      WorkWithoutGrpc jobs = new WorkWithoutGrpc(work);
      Instant due = Instant.parse("2026-12-01T00:00:00Z");
      return List.of(jobs.closeMonth(due), jobs.closeMonth(due));
    }
  }
}
