package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.internal.database.StoreConnections;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How often PostgreSQL plans what the store asks. */
class PlanTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final List<String> TABLES =
      List.of("idempotency.idempotency_keys", "app.things", "app.outbox");

  /**
   * Of the filter nothing is known before the table is analyzed, so its cost grows with the table.
   */
  private static final String FILTERED =
      "SELECT status FROM app.outbox WHERE thing_id = :resource_id AND status = 'pending'"
          + " ORDER BY id DESC LIMIT 1";

  /** How much the tables grow between the first look-ups and the others. */
  private static final int GROWTH = 20_000;

  /** The driver prepares a statement that it has sent five times. */
  private static final int BEFORE = 8;

  private static final int AFTER = 50;

  private final ClaimRequest request =
      Things.claimOf(
          new IdempotencyKey(Caller.of(UUID.randomUUID()), "a key"),
          Procedure.annotated(ThingServiceGrpc.getCreateThingMethod())
              .status(OutboxQuery.of(FILTERED).build())
              .build(),
          new Fingerprint(Fingerprinter.FIRST_VERSION, ByteString.EMPTY));

  /** Until they are analyzed, PostgreSQL only guesses what is in tables that have grown. */
  @Test
  void aReplayIsNotPlannedAnewWhileTablesGrow() {
    database.superuser().useHandle(handle -> TABLES.forEach(table -> notAnalyzed(handle, table)));
    try (HikariDataSource pool = database.newAppPool(StoreConnections.SIZE)) {
      PostgresIdempotencyStore store =
          PostgresIdempotencyStore.builder(pool).connections(pool).build();
      Things.win(store, request).complete(Things.ANSWER);
      replay(store, BEFORE);
      grow();
      replay(store, AFTER);

      assertThat(customPlans(pool)).isZero();
    }
  }

  private static void notAnalyzed(Handle handle, String table) {
    handle.execute("ALTER TABLE %s SET (autovacuum_enabled = off)".formatted(table));
  }

  private static void grow() {
    new KeyTable(database).add(GROWTH, Duration.ofHours(1));
    database.execute(
        """
        INSERT INTO app.things (id, user_id, name)
        SELECT gen_random_uuid(), gen_random_uuid(), 'a thing'
          FROM generate_series(1, ?)
        """,
        GROWTH);
    database.execute(
        "INSERT INTO app.outbox (thing_id, status) SELECT id, 'pending' FROM app.things");
  }

  private void replay(PostgresIdempotencyStore store, int times) {
    for (int time = 0; time < times; time++) {
      assertThat(store.claim(request)).isInstanceOf(ClaimResult.Recorded.class);
    }
  }

  private static int customPlans(HikariDataSource pool) {
    return Jdbi.create(pool)
        .withHandle(
            handle ->
                handle
                    .createQuery(
                        """
                        SELECT custom_plans FROM pg_prepared_statements
                         WHERE statement LIKE '%FROM app.outbox%'
                        """)
                    .mapTo(Integer.class)
                    .one());
  }
}
