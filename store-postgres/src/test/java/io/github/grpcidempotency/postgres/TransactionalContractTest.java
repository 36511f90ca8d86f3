package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.test.Program.PGBOUNCER;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.PgBouncer;
import io.github.grpcidempotency.postgres.internal.transaction.HandlerTransaction;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.spi.StoreTransaction;
import io.github.grpcidempotency.spi.TransactionalStore;
import io.github.grpcidempotency.test.NeedsProgram;
import io.github.grpcidempotency.testing.TransactionalStoreContract;
import java.time.Duration;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The contract of stores with transactions, for each kind that this store has. */
class TransactionalContractTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  @Nested
  class OfItsPool extends Contract {
    @Override
    protected TransactionalStore newStore(Duration lease) {
      return PostgresIdempotencyStore.builder(database.app()).lease(lease).build();
    }
  }

  @Nested
  class OfAHost extends Contract {
    @Override
    protected TransactionalStore newStore(Duration lease) {
      return PostgresIdempotencyStore.builder(database.app())
          .lease(lease)
          .hostTransactions(new ThreadTransactions(database.app()))
          .build();
    }
  }

  @Nested
  @Tag("torture")
  class OfPartitions extends Contract {
    @RegisterExtension static final TestDatabase partitioned = TestDatabase.partitioned();

    @Override
    TestDatabase database() {
      return partitioned;
    }

    @Override
    protected TransactionalStore newStore(Duration lease) {
      return PostgresIdempotencyStore.builder(partitioned.app()).lease(lease).build();
    }
  }

  @Nested
  @Tag("torture")
  @NeedsProgram(PGBOUNCER)
  class ThroughPgBouncer extends Contract {
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
    protected TransactionalStore newStore(Duration lease) {
      return PostgresIdempotencyStore.builder(pool).lease(lease).build();
    }
  }

  /** What a handler does is the same everywhere. */
  abstract static class Contract extends TransactionalStoreContract {
    TestDatabase database() {
      return database;
    }

    @AfterEach
    void everyConnectionIsGivenBack() {
      database().awaitAllConnectionsBack();
    }

    @Override
    protected void create(StoreTransaction transaction, ResourceId thing) {
      Jdbi.open(((HandlerTransaction) transaction).guardedConnection())
          .execute(
              """
              SELECT set_config('app.current_user_id', gen_random_uuid()::text, true)
               WHERE idempotency.current_user_id() IS NULL; -- as in a claim at commit
              INSERT INTO app.things (id, name) VALUES (?, 'new')
              """,
              thing.asUuid());
    }

    @Override
    protected boolean exists(ResourceId thing) {
      return database()
          .one(
              Boolean.class, "SELECT EXISTS (SELECT FROM app.things WHERE id = ?)", thing.asUuid());
    }

    @Override
    protected void letPass(Duration time) {
      database().letPass(time);
    }
  }
}
