package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.postgres.ThingHandlers.insert;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The settings that a host may safely add to its JDBC URL. The start-up check refuses the others.
 */
class DriverSettingsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest REQUEST = Things.named("a thing");

  private final KeyTable table = new KeyTable(database);

  @AfterEach
  void nothingIsLeftBehind() {
    table.clear();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "autosave=always&cleanupSavepoints=true&binaryTransfer=true&prepareThreshold=1",
        "preferQueryMode=extendedForPrepared"
            + "&options=-c%20default_transaction_isolation=serializable",
      })
  void everyCallIsAsSafeAsEver(String settings) {
    try (HikariDataSource pool = PostgresThingServer.pool(database.appUrl() + "&" + settings)) {
      check(PostgresThingServer.on(pool));
      check(PostgresThingServer.on(pool).batched());
      check(PostgresThingServer.on(pool).transactional());
      check(
          PostgresThingServer.on(pool).createThing(thing -> thing.claimAtCommit()).transactional());
      check(PostgresThingServer.on(pool).handler(completing(pool)));
    }
  }

  @Tag("torture")
  @ParameterizedTest
  @ValueSource(
      strings = {
        "preferQueryMode=extendedForPrepared",
        "preferQueryMode=extendedCacheEverything",
        "prepareThreshold=0",
        "prepareThreshold=1",
        "preparedStatementCacheQueries=0",
        "autosave=always",
        "autosave=conservative",
        "autosave=conservative&cleanupSavepoints=true&prepareThreshold=1",
        "binaryTransfer=false",
        "binaryTransfer=true&prepareThreshold=1",
        "defaultRowFetchSize=1",
        "reWriteBatchedInserts=true",
        "stringtype=unspecified",
        "readOnlyMode=always",
        "assumeMinServerVersion=9.4",
        "options=-c%20standard_conforming_strings=off%20-c%20backslash_quote=on",
        "options=-c%20bytea_output=escape%20-c%20timezone=Asia/Kolkata",
        "options=-c%20default_transaction_isolation=repeatable%5C%20read",
        "options=-c%20default_transaction_isolation=serializable",
        "options=-c%20default_transaction_deferrable=on",
        "options=-c%20search_path=pg_catalog",
        "options=-c%20plan_cache_mode=force_generic_plan",
      })
  void everyCallIsAsSafeAsEverWithEachOtherSetting(String settings) {
    everyCallIsAsSafeAsEver(settings);
  }

  /** Completes in a transaction that may keep its snapshot. */
  private static ThingHandler completing(HikariDataSource pool) {
    Jdbi jdbi = Jdbi.create(pool);
    return ThingHandler.creating(
        thing -> {
          UUID user = Things.caller();
          jdbi.useTransaction(
              handle -> {
                Joining.lock(handle);
                insert(handle, user, thing);
                Joining.completeAndCommit(handle, thing);
              });
        });
  }

  /** More often than the driver needs to prepare a statement on the server. */
  private void check(PostgresThingServer.Builder kind) {
    try (ThingServer server = kind.start();
        ThingClient client = ThingClient.to(server.port())) {
      for (int call = 1; call <= 6; call++) {
        ThingClient fresh = client.withNewKey();
        Reply created = fresh.createThing(REQUEST);
        assertThat(created.isOk()).as(created.toString()).isTrue();

        Reply replayed = fresh.createThing(REQUEST);
        assertThat(replayed.isReplay()).as(replayed.toString()).isTrue();
        assertThat(replayed.bytes()).isEqualTo(created.bytes());
        assertThat(replayed.operationStatus()).isEqualTo(Optional.of("processing"));
        assertThat(table.thingsOf(client.user())).hasSize(call);
      }
      assertThat(server.events()).doesNotContain(Kind.UNPROTECTED);
    }
  }
}
