package io.github.grpcidempotency.postgres;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.work.IdempotentWork;
import java.time.Duration;
import java.util.UUID;

/** A process that runs one piece of work and waits at a gate within it, to be killed or stopped. */
final class WorkProcess {
  private WorkProcess() {}

  /**
   * Runs it, with a JDBC URL, the lease in milliseconds, the {@link Execution}, the {@link
   * ThingWork} by name, the user, the token, and the gate.
   */
  @SuppressWarnings("SystemOut") // the test that started this process reads it
  public static void main(String[] arguments) throws Exception {
    Procedure kind = ThingWork.kind(Execution.valueOf(arguments[2]));
    Caller caller = Caller.of(UUID.fromString(arguments[4]));
    try (HikariDataSource pool = new HikariDataSource();
        IdempotentWork runner = IdempotentWork.builder(store(pool, arguments), kind).build()) {
      ThingWork work = new ThingWork(runner, kind, pool);
      try {
        ThingWork.Style style = ThingWork.Style.valueOf(arguments[3]);
        System.out.println("done " + work.run(style, caller, arguments[5], arguments[6]));
      } catch (Exception failure) {
        System.out.println("failed " + failure);
      }
    }
  }

  private static PostgresIdempotencyStore store(HikariDataSource pool, String... arguments) {
    pool.setJdbcUrl(arguments[0]);
    return PostgresIdempotencyStore.builder(pool)
        .lease(Duration.ofMillis(Long.parseLong(arguments[1])))
        .build();
  }
}
