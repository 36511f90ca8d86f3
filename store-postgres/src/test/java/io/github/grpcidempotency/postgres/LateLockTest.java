package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Transactional claims that win their lock just after the winner's commit. */
class LateLockTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest REQUEST = Things.named("a thing");

  /** Waits, however long, before it tries the lock, when its statement has its snapshot already. */
  private static final String SLOW_LOCK =
      """
      CREATE FUNCTION slow.pg_try_advisory_xact_lock(lock bigint) RETURNS boolean
        LANGUAGE plpgsql
        SET lock_timeout = 0
      AS $$
      BEGIN
        PERFORM pg_catalog.pg_advisory_xact_lock_shared(%s);
        RETURN pg_catalog.pg_try_advisory_xact_lock(lock);
      END;
      $$
      """;

  private final KeyTable table = new KeyTable(database);

  @BeforeEach
  void createSchema() {
    database.execute("CREATE SCHEMA slow");
    database.execute("GRANT USAGE ON SCHEMA slow TO things_app");
  }

  @AfterEach
  void dropSchema() {
    database.awaitAllConnectionsBack();
    database.execute("DROP SCHEMA slow CASCADE");
  }

  @Test
  void underReadCommittedTheSecondQueryFindsTheRecord() {
    try (Race race = new Race("read committed")) {
      Reply late = race.run();

      assertThat(late.isReplay()).as(late.toString()).isTrue();
      assertThat(race.late.runs()).isZero();
    }
  }

  /** The look shares the lock's snapshot, which the record is missing from. */
  @ParameterizedTest
  @ValueSource(strings = {"repeatable read", "serializable"})
  void underStricterIsolationTheUniqueIndexFindsItAndNothingOfTheRunRemains(String isolation) {
    try (Race race = new Race(isolation)) {
      Reply late = race.run();

      assertThat(late.reason()).as(late.toString()).isEqualTo(Things.IN_PROGRESS);
      assertThat(race.late.runs()).isEqualTo(1);
      assertThat(race.toLate.createThing(REQUEST).isReplay()).isTrue();
      assertThat(table.thingsOf(race.toLate.user())).hasSize(1);
    }
  }

  /** A server whose lock is slow, and one that is quicker. */
  private static final class Race implements AutoCloseable {
    private final HikariDataSource pool;
    private final ThingServer late;
    private final ThingServer winner =
        PostgresThingServer.on(database.app()).transactional().start();
    private final ThingClient toLate;
    private final ThingClient toWinner;

    Race(String isolation) {
      pool =
          PostgresThingServer.pool(
              database.appUrl()
                  + "&socketTimeout=0"
                  + "&options=-c%20search_path=slow,pg_catalog%20-c%20default_transaction_isolation="
                  + isolation.replace(" ", "%5C%20"));
      late = PostgresThingServer.on(pool).transactional().start();
      toLate = ThingClient.to(late.port());
      toWinner = ThingClient.to(winner.port()).like(toLate);
    }

    Reply run() {
      try (Gate gate = Gate.shut(database.superuser())) {
        database.execute(SLOW_LOCK.formatted(gate.name()));
        CompletableFuture<Reply> answer = toLate.startThing(REQUEST);
        gate.awaitWaiting(1);
        assertThat(toWinner.createThing(REQUEST).isOk()).isTrue();
        gate.open();
        return answer.join();
      }
    }

    @Override
    public void close() {
      toLate.close();
      toWinner.close();
      late.close();
      winner.close();
      pool.close();
    }
  }
}
