package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.test.Program.PGBOUNCER;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.PgBouncer;
import io.github.grpcidempotency.spi.OperationStore;
import io.github.grpcidempotency.test.NeedsProgram;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The whole contract again, through a real pooler of transactions. */
@Tag("torture")
@NeedsProgram(PGBOUNCER)
class PgBouncerContractTest extends PostgresIdempotencyStoreContractTest {
  private static PgBouncer pooler;
  private static HikariDataSource pool;

  @BeforeAll
  static void startPooler() {
    pooler = PgBouncer.before(database.appUrl(), 10);
    pool = PostgresThingServer.pool(pooler.jdbcUrl());
  }

  @AfterAll
  static void stopPooler() {
    pool.close();
    pooler.close();
  }

  @Override
  protected OperationStore newStore(Duration lease) {
    return PostgresIdempotencyStore.builder(pool).lease(lease).build();
  }
}
