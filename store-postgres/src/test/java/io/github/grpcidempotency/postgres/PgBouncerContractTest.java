package io.github.grpcidempotency.postgres;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.PgBouncer;
import io.github.grpcidempotency.store.OperationStore;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIf;

/** The whole contract again, through a real pooler of transactions. */
@Tag("torture")
@EnabledIf("io.github.grpcidempotency.fault.PgBouncer#isInstalled")
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
