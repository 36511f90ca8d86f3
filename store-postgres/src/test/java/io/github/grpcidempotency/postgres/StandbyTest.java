package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingServer;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A primary that comes back as a standby, as after a failover, under servers that stay. */
class StandbyTest {
  private static final CreateThingRequest REQUEST = Things.named("a thing");

  @Test
  void aDemotedDatabaseReplaysWhatItHasAndRefusesWhatItCannotRecord(@TempDir Path data)
      throws IOException {
    int port = freePort();
    EmbeddedPostgres postgres = start(port, data);
    try (TestDatabase database = TestDatabase.in(postgres);
        HikariDataSource pool = PostgresThingServer.pool(database.appUrl());
        ThingServer server = PostgresThingServer.on(pool).transactional().start();
        ThingClient client = ThingClient.to(server.port())) {
      ThingClient.Reply first = client.createThing(REQUEST);
      ThingClient.Reply other = client.withNewKey().createOther(REQUEST);
      assertThat(other.isOk()).isTrue();
      int runs = server.runs();

      postgres.close();
      Files.createFile(data.resolve("standby.signal"));
      postgres = start(port, data);

      // The first calls may still be given connections that have just died.
      ThingClient.Reply replay =
          await().until(() -> client.createThing(REQUEST), ThingClient.Reply::isReplay);
      assertThat(replay.bytes()).isEqualTo(first.bytes());
      ThingClient.Reply refused = client.withNewKey().createThing(REQUEST);
      assertThat(refused.reason()).isEqualTo(Things.STORE_UNAVAILABLE);
      assertThat(refused.description()).endsWith("read only");
      assertThat(server.runs()).isEqualTo(runs);
    } finally {
      postgres.close();
    }
  }

  private static EmbeddedPostgres start(int port, Path data) throws IOException {
    return EmbeddedPostgres.builder()
        .setPort(port)
        .setDataDirectory(data)
        .setCleanDataDirectory(false)
        .setServerConfig("hot_standby", "on")
        .start();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
