package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.procedure.ResourceId;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class DeletedResourceTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest REQUEST = Things.named("a thing");

  @Test
  void aThingThatDoesNotExistCostsTheReferenceAndTheStatusOnly() {
    try (LogLines log = LogLines.listen();
        ThingClient client = ThingClient.to(1)) {
      IdempotencyStore store = PostgresIdempotencyStore.builder(database.app()).build();
      ClaimRequest request = Things.claimOf(client, REQUEST);
      Claim claim = Things.win(store, request);
      RecordedOutcome.Response answer =
          new RecordedOutcome.Response(
              REQUEST.toByteString(), Optional.of(ResourceId.of(UUID.randomUUID())));

      assertThat(claim.complete(answer)).isEqualTo(Claim.Settled.UNREFERRED);

      ClaimResult.Recorded recorded = (ClaimResult.Recorded) store.claim(request);
      assertThat(recorded.outcome())
          .isEqualTo(new RecordedOutcome.Response(answer.bytes(), Optional.empty()));
      assertThat(recorded.status()).isEmpty();
      assertThat(log.warnings())
          .singleElement()
          .satisfies(line -> assertThat(line).contains("ThingService/CreateThing"));
    }
  }

  /** As the page about set-up says. Nothing of it remains for other tests. */
  @Test
  void aTableOfResourcesIsTruncatedOrDroppedWithCascadeOnly() {
    Claim unused =
        Things.win(
            PostgresIdempotencyStore.builder(database.app()).build(),
            Things.claimOf(ThingClient.to(1), REQUEST));
    database
        .superuser()
        .useHandle(
            handle -> {
              handle.begin();
              handle.execute("CREATE TABLE app.tickets (id uuid PRIMARY KEY)");
              handle.execute("SELECT idempotency.add_resource_type('ticket', 'app.tickets')");
              handle.savepoint("before");
              assertThatThrownBy(() -> handle.execute("TRUNCATE app.tickets"))
                  .hasMessageContaining("truncate a table referenced in a foreign key constraint")
                  .hasMessageContaining("idempotency_keys");
              handle.rollbackToSavepoint("before");
              handle.savepoint("before");
              assertThatThrownBy(() -> handle.execute("DROP TABLE app.tickets"))
                  .hasMessageContaining("constraint idempotency_keys_ticket_id_fkey");
              handle.rollbackToSavepoint("before");
              handle.savepoint("before");
              assertThat(keys(handle)).isPositive();

              handle.execute("DROP TABLE app.tickets CASCADE");
              assertThat(keys(handle)).isPositive();
              handle.execute("SELECT ticket_id FROM idempotency.idempotency_keys");
              handle.rollbackToSavepoint("before");
              handle.savepoint("before");

              handle.execute("TRUNCATE app.tickets CASCADE");
              assertThat(keys(handle)).isZero();
              handle.rollback();
            });
  }

  private static int keys(Handle handle) {
    return handle
        .createQuery("SELECT count(*) FROM idempotency.idempotency_keys")
        .mapTo(Integer.class)
        .one();
  }
}
