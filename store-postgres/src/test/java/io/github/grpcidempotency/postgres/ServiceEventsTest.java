package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.postgres.OperationsClient.nameOf;
import static io.github.grpcidempotency.postgres.OperationsClient.refused;
import static io.github.grpcidempotency.postgres.OperationsClient.work;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.longrunning.Operation;
import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.event.RefusalEvent;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.event.ReplayEvent;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import io.github.grpcidempotency.thing.EventJournal;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What listeners hear of questions about calls that were made before. */
class ServiceEventsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private final EventJournal journal = new EventJournal();
  private final ThingServer server =
      PostgresThingServer.on(database.app()).listener(journal.listener()).withServices().start();
  private final ThingClient client = ThingClient.to(server.port());
  private final OperationsClient operations = OperationsClient.of(client);
  private Reply first = client.createThing(Things.named("a thing"));

  @BeforeEach
  void forgetTheCall() {
    journal.clear();
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  @Test
  void recoveryIsReportedAsAnEntryOfItsOwn() {
    var unused = recover(client);
    refused(() -> recover(client.withNewKey()));
    refused(() -> recover(client.withKey("malformed")));

    assertThat(journal.kinds()).containsExactly(Kind.REPLAYED, Kind.REFUSED, Kind.REFUSED);
    ReplayEvent replayed = journal.only(Kind.REPLAYED, ReplayEvent.class);
    assertThat(replayed.operationId()).map(UUID::toString).contains(nameOf(first));
    assertThat(replayed.took()).isPositive();
    assertThat(replayed.entry()).isEqualTo(Entry.RECOVERY);
    assertThat(replayed.procedure()).isEqualTo(ThingServer.CREATE_THING.getFullMethodName());
    assertThat(journal.all(Kind.REFUSED, RefusalEvent.class))
        .extracting(RefusalEvent::reason)
        .containsExactly(RefusalReason.KEY_UNKNOWN, RefusalReason.KEY_INVALID);
  }

  @Test
  void anOperationIsReportedOnceItsAnswerIsGiven() {
    operations.get(nameOf(first));
    assertThat(journal.kinds()).isEmpty();
    work(database, first, "done");

    operations.get(nameOf(first));

    ReplayEvent replayed = journal.only(Kind.REPLAYED, ReplayEvent.class);
    assertThat(replayed.operationId()).map(UUID::toString).contains(nameOf(first));
    assertThat(replayed.entry()).isEqualTo(Entry.OPERATIONS);
  }

  @Test
  void waitersForAnOperationAreReported() {
    CompletableFuture<Operation> waiting = operations.waiting(nameOf(first), Duration.ofMinutes(1));
    await().until(() -> server.waits() == 1);
    work(database, first, "done");

    assertThat(waiting.join().getDone()).isTrue();

    assertThat(journal.kinds()).containsExactly(Kind.REPLAYED);
  }

  @Test
  void anOperationThatIsNotFoundIsARefusalOfTheService() {
    refused(() -> operations.get(UUID.randomUUID().toString()));
    refused(() -> operations.delete(nameOf(first)));

    assertThat(journal.kinds()).containsExactly(Kind.REFUSED, Kind.REFUSED);
    RefusalEvent unknown = journal.all(Kind.REFUSED, RefusalEvent.class).get(0);
    assertThat(unknown.reason()).isEqualTo(RefusalReason.OPERATION_UNKNOWN);
    assertThat(unknown.operationId()).isEmpty();
    assertThat(unknown.procedure()).isEqualTo("google.longrunning.Operations");
    RefusalEvent unfinished = journal.all(Kind.REFUSED, RefusalEvent.class).get(1);
    assertThat(unfinished.reason()).isEqualTo(RefusalReason.OPERATION_UNFINISHED);
    assertThat(unfinished.operationId().orElseThrow()).hasToString(nameOf(first));
    assertThat(unfinished.procedure()).isEqualTo(ThingServer.CREATE_THING.getFullMethodName());
  }

  private static RecoverResponse recover(ThingClient client) {
    return Things.recover(client, ThingServer.CREATE_THING, Duration.ZERO);
  }
}
