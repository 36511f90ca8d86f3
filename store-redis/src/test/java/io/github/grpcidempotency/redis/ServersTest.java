package io.github.grpcidempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.InFlightPolicy;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.Transport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Two servers of a service on one Redis. */
@NeedsRedis
class ServersTest {
  private static final int DUPLICATES = 64;
  private static final CreateThingRequest REQUEST =
      CreateThingRequest.newBuilder().setName("a thing").build();

  @AutoClose static final RedisProcess redis = RedisProcess.durable();

  private final List<AutoCloseable> open = new ArrayList<>();
  private final CountDownLatch go = new CountDownLatch(1);

  @AfterEach
  void close() throws Exception {
    go.countDown();
    for (AutoCloseable each : open) {
      each.close();
    }
  }

  @Test
  void ofManyDuplicatesOnTwoServersOneRunsAndAllGetItsAnswer() {
    List<ThingServer> servers =
        List.of(start(ServersTest::attaching), start(ServersTest::attaching));
    List<CompletableFuture<Reply>> replies = sendDuplicates(servers);
    await()
        .until(
            () ->
                servers.stream()
                        .flatMap(server -> server.events().stream())
                        .filter(event -> event.startsWith("attached"))
                        .count()
                    == DUPLICATES - 1);

    go.countDown();

    assertThat(replies.stream().map(CompletableFuture::join))
        .allMatch(Reply::isOk)
        .extracting(Reply::thingId)
        .containsOnly(replies.get(0).join().thingId());
    assertThat(replies.stream().filter(reply -> reply.join().isReplay())).hasSize(DUPLICATES - 1);
    assertThat(servers.stream().mapToInt(ThingServer::runs).sum()).isEqualTo(1);
  }

  @Test
  void ofManyDuplicatesThatDoNotWaitOneRunsAndTheOthersAreRefusedUntilItHasEnded() {
    List<ThingServer> servers =
        List.of(start(UnaryOperator.identity()), start(UnaryOperator.identity()));
    List<CompletableFuture<Reply>> replies = sendDuplicates(servers);

    await()
        .until(() -> replies.stream().filter(CompletableFuture::isDone).count() == DUPLICATES - 1);
    go.countDown();

    assertThat(replies.stream().map(CompletableFuture::join).filter(Reply::isOk)).hasSize(1);
    assertThat(replies.stream().map(CompletableFuture::join).map(Reply::reason))
        .filteredOn("IDEMPOTENCY_IN_PROGRESS"::equals)
        .hasSize(DUPLICATES - 1);
    assertThat(servers.stream().mapToInt(ThingServer::runs).sum()).isEqualTo(1);
  }

  @Test
  void usersAndNamespacesHaveKeysOfTheirOwn() {
    go.countDown();
    ThingServer server = start(UnaryOperator.identity());
    ThingClient client = ThingClient.on(server.channel());
    List<ThingClient> callers =
        List.of(client, client.as(UUID.randomUUID()), client.in("here"), client.in("there/x"));

    List<UUID> things =
        callers.stream().map(caller -> caller.createThing(REQUEST).thingId()).toList();

    assertThat(things).doesNotHaveDuplicates();
    assertThat(callers.stream().map(caller -> caller.createThing(REQUEST).thingId()))
        .containsExactlyElementsOf(things);
    assertThat(server.runs()).isEqualTo(callers.size());
  }

  @Test
  void ofASealedAnswerRedisGetsNothingElse() {
    go.countDown();
    ThingServer server = start(procedure -> procedure.protect(new Inverted()));
    ThingClient client = ThingClient.on(server.channel());

    ByteString answer = client.createThing(REQUEST).bytes().orElseThrow();

    assertThat(client.createThing(REQUEST).bytes()).contains(answer);
    List<String> kept = redis.with(commands -> commands.hvals(nameOf(client)));
    assertThat(kept).hasSizeGreaterThan(5).noneMatch(value -> value.contains(REQUEST.getName()));
  }

  private static String nameOf(ThingClient client) {
    return new RecordKey("idempotency")
        .nameOf(new IdempotencyKey(Caller.of(client.user()), client.key()));
  }

  /** Stands for encryption: what it seals is not legible. */
  private static final class Inverted implements ResponseProtection {
    @Override
    public ByteString seal(ByteString answer, ByteString binding) {
      byte[] bytes = answer.toByteArray();
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = (byte) ~bytes[i];
      }
      return ByteString.copyFrom(bytes);
    }

    @Override
    public ByteString open(ByteString stored, ByteString binding) {
      return seal(stored, binding);
    }
  }

  private static ProcedureBuilder<Thing> attaching(ProcedureBuilder<Thing> procedure) {
    return procedure.inFlight(InFlightPolicy.attach(Duration.ofSeconds(30)));
  }

  private List<CompletableFuture<Reply>> sendDuplicates(List<ThingServer> servers) {
    ThingClient first = ThingClient.on(servers.get(0).channel());
    List<CompletableFuture<Reply>> replies = new ArrayList<>();
    for (int i = 0; i < DUPLICATES; i++) {
      replies.add(
          ThingClient.on(servers.get(i % servers.size()).channel())
              .like(first)
              .startThing(REQUEST));
    }
    return replies;
  }

  private ThingServer start(UnaryOperator<ProcedureBuilder<Thing>> procedure) {
    RedisIdempotencyStore store = RedisIdempotencyStore.builder(redis.uri()).build();
    ThingServer server =
        ThingServer.on(Transport.IN_PROCESS)
            .store(store)
            .createThing(procedure)
            .handler(
                (request, observer) -> {
                  awaitGo();
                  ThingHandler.answer(request, observer);
                })
            .start();
    open.add(server);
    open.add(store);
    return server;
  }

  private void awaitGo() {
    try {
      go.await();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }
}
