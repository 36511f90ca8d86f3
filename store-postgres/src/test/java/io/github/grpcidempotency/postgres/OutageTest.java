package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutageTest {
  private static final CreateThingRequest REQUEST = Things.named("a thing");

  private static KillablePostgres postgres;
  private static TestDatabase database;

  @BeforeAll
  static void start(@TempDir Path data) {
    postgres = KillablePostgres.in(data);
    database = TestDatabase.in(postgres.server());
  }

  @AfterAll
  static void stop() {
    database.close();
    postgres.close();
  }

  /** A fast shutdown ends every connection first, so it is not known whether a new key is held. */
  @Test
  void aNewKeyIsNotRefusedAsInProgressWhileTheDatabaseStops() {
    try (HikariDataSource pool = PostgresThingServer.pool(database.appUrl());
        ThingServer server =
            PostgresThingServer.on(pool).otherOutage(OutagePolicy.FAIL_CLOSED).start();
        ThingClient client = ThingClient.to(server.port())) {
      List<Reply> replies = new CopyOnWriteArrayList<>();
      AtomicBoolean stopped = new AtomicBoolean();
      List<CompletableFuture<Void>> callers = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        callers.add(
            CompletableFuture.runAsync(
                () -> {
                  while (!stopped.get()) {
                    replies.add(client.withNewKey().createOther(REQUEST));
                  }
                }));
      }
      await().until(() -> replies.size() > 20);
      postgres.stop();
      await().until(() -> replies.stream().anyMatch(reply -> !reply.isOk()));
      stopped.set(true);
      callers.forEach(CompletableFuture::join);

      assertThat(replies)
          .filteredOn(reply -> !reply.isOk())
          .extracting(Reply::reason)
          .contains(Things.STORE_UNAVAILABLE)
          .isSubsetOf(Things.STORE_UNAVAILABLE, Things.IN_PROGRESS);
      assertThat(replies)
          .as("only what has run is in progress, for its answer is still to be recorded")
          .filteredOn(reply -> reply.isOk() || reply.reason().equals(Things.IN_PROGRESS))
          .hasSize(server.runs());
    }
  }
}
