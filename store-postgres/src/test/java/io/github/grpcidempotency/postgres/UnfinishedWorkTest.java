package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.resource.IdempotencyStatus.COMPLETED;
import static io.github.grpcidempotency.resource.IdempotencyStatus.FAILED;
import static io.github.grpcidempotency.resource.IdempotencyStatus.PROCESSING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.spi.UnfinishedWork;
import io.github.grpcidempotency.spi.UnfinishedWork.Backlog;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingServer;
import java.util.List;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The oldest answers whose outbox entry is not finished, of all callers. */
class UnfinishedWorkTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final String NAME = ThingServer.CREATE_THING.getFullMethodName();

  private static final RecordedProcedure CREATE_THING =
      RecordedProcedure.of(
          Procedure.annotated(ThingServiceGrpc.getCreateThingMethod())
              .status(
                  OutboxQuery.of(PostgresThingServer.OUTBOX_QUERY)
                      .map(PROCESSING, "pending")
                      .map(COMPLETED, "done")
                      .map(FAILED, "failed")
                      .build())
              .build());

  private static final PostgresIdempotencyStore store =
      database.closing(PostgresIdempotencyStore.builder(database.app()).build());

  private static final ThingServer server =
      database.closing(PostgresThingServer.on(database.app()).start());

  private final UnfinishedWork work = store.unfinishedWork(List.of(CREATE_THING));

  @BeforeEach
  void empty() {
    database.execute("DELETE FROM idempotency.idempotency_keys");
    database.execute("DELETE FROM app.outbox");
  }

  @Test
  void unfinishedAnswersOfAllCallersAreCountedUntilTheirWorkEnds() {
    create(50);
    create(40);
    create(30);
    assertBacklog(3, 50);

    database.execute("UPDATE app.outbox SET status = 'done' WHERE thing_id = " + thing(50));
    assertBacklog(2, 40);

    database.execute("UPDATE app.outbox SET status = 'failed' WHERE thing_id = " + thing(40));
    create(20);
    assertBacklog(2, 30);

    database.execute("UPDATE app.outbox SET status = 'done'");
    assertThat(work.read()).containsEntry(NAME, Backlog.NONE);
    create(10);
    assertBacklog(1, 10);
  }

  @Test
  void anAnswerWhoseRecordOrResourceIsDeletedCountsNoMore() {
    create(50);
    create(40);
    create(30);
    assertBacklog(3, 50);

    database.execute("DELETE FROM app.things WHERE id = " + thing(50));
    assertBacklog(2, 40);

    database.execute("DELETE FROM idempotency.idempotency_keys WHERE id = " + operation(40));
    assertBacklog(1, 30);
  }

  @Test
  void workOfTheLastMinuteAndWorkFromLongBeforeTheStartDoNotCount() {
    create(90);
    create(0);

    assertThat(work.read()).containsEntry(NAME, Backlog.NONE);
  }

  /** The place, and not the age, decides what a later read finds. */
  @Test
  void oldWorkThatHasBeenFoundIsFoundAgain() {
    create(50);
    assertBacklog(1, 50);

    database.execute(
        "UPDATE idempotency.idempotency_keys SET completed = completed - interval '5 hours'");
    assertBacklog(1, 350);
  }

  @Test
  void aColumnOfContentsIsNotRead() {
    assertThatThrownBy(
            () ->
                Jdbi.create(database.app())
                    .useHandle(
                        handle ->
                            handle.execute(
                                "SELECT idempotency.answers_after('x', 'response_bytes', NULL)")))
        .hasMessageContaining("response_bytes is not the column of a resource type");
  }

  private void assertBacklog(int answers, int minutes) {
    Backlog backlog = work.read().get(NAME);
    assertThat(backlog.answers()).isEqualTo(answers);
    assertThat(backlog.oldest().toMinutes()).isBetween((long) minutes, minutes + 9L);
  }

  /** Creates a thing as a new caller, some minutes ago. */
  private static void create(int minutesAgo) {
    ThingClient.on(server.channel()).createThing(Things.named(minutesAgo + " minutes ago"));
    database.execute(
        """
        UPDATE idempotency.idempotency_keys
           SET id = (lpad(to_hex((extract(epoch FROM now() - interval '%1$d min') * 1000)::bigint), 12, '0')
                     || right(replace(id::text, '-', ''), 20))::uuid,
               completed = now() - interval '%1$d min'
         WHERE completed = (SELECT max(completed) FROM idempotency.idempotency_keys)
        """
            .formatted(minutesAgo));
  }

  private static String thing(int minutesAgo) {
    return "(SELECT thing_id FROM idempotency.idempotency_keys WHERE id = %s)"
        .formatted(operation(minutesAgo));
  }

  private static String operation(int minutesAgo) {
    return """
        (SELECT id FROM idempotency.idempotency_keys
          WHERE completed BETWEEN now() - interval '%d min' AND now() - interval '%d min')"""
        .formatted(minutesAgo + 9, minutesAgo);
  }
}
