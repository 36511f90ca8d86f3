package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.extension.RegisterExtension;

class StampedeTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final Metadata.Key<String> PUSHBACK =
      Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER);

  private final KeyTable table = new KeyTable(database);

  @RepeatedTest(5)
  void aHundredCallsAtOnceOverTwoServersRunTheHandlerOnce() {
    CreateThingRequest request = Things.named("wanted by many");
    try (ThingServer left = PostgresThingServer.on(database.app()).start();
        ThingServer right = PostgresThingServer.on(database.newAppPool()).start();
        ThingClient toLeft = ThingClient.to(left.port());
        ThingClient toRight = ThingClient.to(right.port()).like(toLeft)) {
      List<CompletableFuture<Reply>> calls = new ArrayList<>();
      for (int pair = 0; pair < 50; pair++) {
        calls.add(toLeft.startThing(request));
        calls.add(toRight.startThing(request));
      }
      List<Reply> replies = calls.stream().map(CompletableFuture::join).toList();

      assertThat(left.runs() + right.runs()).isEqualTo(1);
      assertThat(table.thingsOf(toLeft.user())).hasSize(1);
      Optional<ByteString> answer = toLeft.createThing(request).bytes();
      assertThat(replies)
          .allSatisfy(
              reply -> {
                if (reply.isOk()) {
                  assertThat(reply.bytes()).isEqualTo(answer);
                } else {
                  assertThat(reply.status().getCode()).isEqualTo(Status.Code.ABORTED);
                  assertThat(reply.reason()).isEqualTo(Things.IN_PROGRESS);
                  assertThat(reply.trailers().get(PUSHBACK)).containsOnlyDigits();
                }
              });
      assertThat(replies).filteredOn(reply -> reply.isOk() && !reply.isReplay()).hasSize(1);
    }
  }
}
