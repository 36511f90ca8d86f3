package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import java.util.UUID;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Servers whose rules differ about what makes two requests the same, on one database. */
class RollingChangeTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest REQUEST =
      Things.named("a thing").toBuilder().putLabels("sent", "at first").build();
  private static final CreateThingRequest RETRY =
      REQUEST.toBuilder().putLabels("sent", "again").build();

  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "TRANSACTIONAL"})
  void anOldRecordIsComparedUnderItsOwnVersion(Execution execution) {
    try (ThingServer older = older(execution);
        ThingServer newer = newer(execution);
        ThingClient toOlder = ThingClient.to(older.port());
        ThingClient toNewer = ThingClient.to(newer.port()).like(toOlder)) {
      Reply first = toOlder.createThing(REQUEST);

      Reply same = toNewer.createThing(REQUEST);
      Reply other = toNewer.createThing(RETRY);

      assertThat(same.isReplay()).isTrue();
      assertThat(same.bytes()).isEqualTo(first.bytes());
      assertThat(other.reason()).isEqualTo(Things.KEY_REUSED);
      assertThat(older.runs() + newer.runs()).isEqualTo(1);
      assertThat(versionOf(toOlder.user())).isEqualTo(1);
    }
  }

  private static ThingServer older(Execution execution) {
    return PostgresThingServer.on(database.app())
        .createThing(thing -> thing.fingerprint(Fingerprinter.wholeRequest()))
        .execution(execution)
        .start();
  }

  private static ThingServer newer(Execution execution) {
    return PostgresThingServer.on(database.app())
        .createThing(
            thing -> thing.fingerprint(Fingerprinter.wholeRequest().ignoringSince(2, "labels")))
        .execution(execution)
        .start();
  }

  private static int versionOf(UUID user) {
    return database.one(
        Integer.class,
        "SELECT hash_version FROM idempotency.idempotency_keys" + " WHERE user_id = ?",
        user);
  }
}
