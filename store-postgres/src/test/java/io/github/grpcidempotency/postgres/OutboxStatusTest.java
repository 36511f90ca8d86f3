package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.procedure.IdempotencyStatus.COMPLETED;
import static io.github.grpcidempotency.procedure.IdempotencyStatus.FAILED;
import static io.github.grpcidempotency.procedure.IdempotencyStatus.PROCESSING;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.fault.ThingClient;
import io.github.grpcidempotency.fault.ThingClient.Reply;
import io.github.grpcidempotency.fault.ThingServer;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.testing.LogLines;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Only three words ever reach a client, whatever the outbox holds. */
class OutboxStatusTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest REQUEST = Things.named("a thing");

  private static final Jdbi superuser = database.superuser();

  @BeforeAll
  static void letTheOutboxHoldAnything() {
    superuser.useHandle(
        handle -> handle.execute("ALTER TABLE app.outbox ALTER COLUMN status DROP NOT NULL"));
  }

  @ParameterizedTest
  @CsvSource({
    "pending, processing",
    "retrying, processing",
    "done, completed",
    "failed, failed",
  })
  void aWordThatIsMappedIsTold(String word, String status) {
    try (LogLines log = LogLines.listen();
        ThingServer server = ThingServer.on(database.app()).start()) {
      assertThat(replayStatus(server, "status = '" + word + "'")).contains(status);
      assertThat(log.warnings()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"'exploded'", "'COMPLETED'", "'completed'", "' done'", "''", "NULL"})
  void anyOtherValueIsProcessingAndAWarning(String value) {
    try (LogLines log = LogLines.listen();
        ThingServer server =
            ThingServer.on(database.app())
                .outbox(
                    OutboxStatusResolver.query(ThingServer.OUTBOX_QUERY)
                        .map(COMPLETED, "done")
                        .map(FAILED, "failed")
                        .whenAbsent(COMPLETED))
                .start()) {
      assertThat(replayStatus(server, "status = " + value)).contains("processing");
      assertThat(log.warnings()).anyMatch(line -> line.contains("the outbox says"));
    }
  }

  @Test
  void anEmptyOutboxIsProcessingUnlessTheServiceSaysOtherwise() {
    try (ThingServer server = ThingServer.on(database.app()).start();
        ThingServer deletingServer =
            ThingServer.on(database.app())
                .outbox(OutboxStatusResolver.query(ThingServer.OUTBOX_QUERY).whenAbsent(COMPLETED))
                .start();
        ThingClient client = ThingClient.to(server.port());
        ThingClient toDeleting = ThingClient.to(deletingServer.port()).like(client)) {
      client.createThing(REQUEST);
      superuser.useHandle(handle -> handle.execute("DELETE FROM app.outbox"));

      assertThat(client.createThing(REQUEST).operationStatus()).contains("processing");
      assertThat(toDeleting.createThing(REQUEST).operationStatus()).contains("completed");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT (1 / length(substr(status, 8)))::text FROM app.outbox"
            + " WHERE thing_id = :resource_id",
        "SELECT status FROM app.outbox CROSS JOIN generate_series(1, 2)"
            + " WHERE thing_id = :resource_id",
      })
  void aQueryThatFailsForOneThingIsProcessingAndAWarning(String query) {
    try (LogLines log = LogLines.listen();
        ThingServer server =
            ThingServer.on(database.app()).outbox(OutboxStatusResolver.query(query)).start()) {
      assertThat(replayStatus(server, "status = 'done'")).contains("processing");
      assertThat(log.warnings()).anyMatch(line -> line.contains("outbox query"));
    }
  }

  @Test
  void anOutboxThatIsGoneIsProcessingAndAWarning() {
    try (LogLines log = LogLines.listen();
        ThingServer server = ThingServer.on(database.app()).start();
        ThingClient client = ThingClient.to(server.port())) {
      Reply created = client.createThing(REQUEST);
      superuser.useHandle(handle -> handle.execute("ALTER TABLE app.outbox RENAME TO gone"));
      try {
        Reply replayed = client.createThing(REQUEST);

        assertThat(replayed.bytes()).isEqualTo(created.bytes());
        assertThat(replayed.operationStatus()).contains("processing");
        assertThat(log.warnings()).anyMatch(line -> line.contains("outbox query"));
      } finally {
        superuser.useHandle(handle -> handle.execute("ALTER TABLE app.gone RENAME TO outbox"));
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void anOutboxThatIsGoneHidesNoRecordAndIsNotTakenForAnEmptyOne(Execution execution) {
    IdempotencyStore store = PostgresIdempotencyStore.builder(database.app()).build();
    UUID user = UUID.randomUUID();
    UUID thing = UUID.randomUUID();
    Procedure procedure =
        Procedure.annotated(ThingServiceGrpc.getCreateThingMethod())
            .status(
                OutboxStatusResolver.query(ThingServer.OUTBOX_QUERY).whenAbsent(COMPLETED).build())
            .execution(execution)
            .build();
    ClaimRequest request =
        new ClaimRequest(
            new IdempotencyKey(Caller.of(user), "a-key"),
            procedure,
            Fingerprinter.wholeRequest().fingerprint(REQUEST));
    superuser.useHandle(
        handle ->
            handle.execute(
                "INSERT INTO app.things (id, user_id, name) VALUES (?, ?, '')", thing, user));
    Things.win(store, request)
        .complete(new RecordedOutcome.Response(REQUEST.toByteString(), Optional.of(thing)));
    assertThat(((ClaimResult.Recorded) store.claim(request)).status()).isEqualTo(COMPLETED);
    superuser.useHandle(handle -> handle.execute("ALTER TABLE app.outbox RENAME TO gone"));
    try (LogLines log = LogLines.listen()) {
      ClaimResult.Recorded recorded = (ClaimResult.Recorded) store.claim(request);

      assertThat(recorded.status()).isEqualTo(PROCESSING);
      assertThat(log.warnings()).anyMatch(line -> line.contains("outbox query"));
    } finally {
      superuser.useHandle(handle -> handle.execute("ALTER TABLE app.gone RENAME TO outbox"));
    }
  }

  private static Optional<String> replayStatus(ThingServer server, String change) {
    try (ThingClient client = ThingClient.to(server.port())) {
      Reply created = client.createThing(REQUEST);
      assertThat(created.operationStatus()).contains("processing");
      superuser.useHandle(
          handle ->
              handle.execute(
                  "UPDATE app.outbox SET " + change + " WHERE thing_id = ?", created.thingId()));

      Reply replayed = client.createThing(REQUEST);
      assertThat(replayed.isReplay()).isTrue();
      return replayed.operationStatus();
    }
  }
}
