package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.fault.ThingClient;
import io.github.grpcidempotency.fault.ThingClient.Reply;
import io.github.grpcidempotency.fault.ThingServer;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.testing.LogLines;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.grpc.Status;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutageTest {
  private static final CreateThingRequest REQUEST = Things.named("a thing");

  @Test
  void withTheDatabaseStoppedAKeyedCallIsServedOrRefusedAndIdempotencyReturnsWithTheDatabase(
      @TempDir Path data) throws IOException {
    int port = freePort();
    EmbeddedPostgres postgres = start(port, data);
    try (TestDatabase database = TestDatabase.in(postgres);
        ThingServer open =
            ThingServer.on(ThingServer.pool(database.appUrl()))
                .otherOutage(OutagePolicy.FAIL_OPEN)
                .start();
        ThingServer closed =
            ThingServer.on(ThingServer.pool(database.appUrl()))
                .otherOutage(OutagePolicy.FAIL_CLOSED)
                .start();
        ThingClient toOpen = ThingClient.to(open.port());
        ThingClient toClosed = ThingClient.to(closed.port())) {
      Reply before = toOpen.createOther(REQUEST);
      assertThat(before.operationStatus()).isPresent();
      toClosed.createOther(REQUEST);
      int closedRuns = closed.runs();

      postgres.close();
      try (LogLines log = LogLines.listen()) {
        // A call that was cut off in its claim is told to come again.
        Reply served = await().until(() -> toOpen.createOther(REQUEST), Reply::isOk);
        assertThat(served.isReplay()).isFalse();
        assertThat(served.bytes()).isNotEqualTo(before.bytes());
        assertThat(open.events()).contains("unprotected FAILED_OPEN");
        assertThat(log.warnings())
            .anyMatch(
                line ->
                    line.contains(
                        "CreateOther: a call with a key is not protected: its store is out"));
      }
      Reply refused =
          await()
              .until(
                  () -> toClosed.createOther(REQUEST),
                  reply -> reply.status().getCode() != Status.Code.ABORTED);
      assertThat(refused.status().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
      assertThat(refused.reason()).isEqualTo(Things.STORE_UNAVAILABLE);
      assertThat(closed.runs()).isEqualTo(closedRuns);

      postgres = start(port, data);
      Reply after = await().until(() -> toOpen.createOther(REQUEST), Reply::isReplay);
      assertThat(after.bytes()).isEqualTo(before.bytes());
      ThingClient fresh = toClosed.withKey(UUID.randomUUID().toString());
      Reply first = await().until(() -> fresh.createOther(REQUEST), Reply::isOk);
      assertThat(fresh.createOther(REQUEST).bytes()).isEqualTo(first.bytes());
      assertThat(closed.runs()).isEqualTo(closedRuns + 1);
    } finally {
      postgres.close();
    }
  }

  private static EmbeddedPostgres start(int port, Path data) throws IOException {
    return EmbeddedPostgres.builder()
        .setPort(port)
        .setDataDirectory(data)
        .setCleanDataDirectory(false)
        .start();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
