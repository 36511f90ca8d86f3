package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.InvalidProtocolBufferException;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.test.Snippets;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.GrpcCleanupExtension;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.Transport;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A service with a table of keys of its own moves to the library while calls arrive. */
class OwnKeyTableTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();
  @RegisterExtension final GrpcCleanupExtension grpc = new GrpcCleanupExtension();

  private static final Path PAGE = RepositoryRoot.resolve("docs/how-to/own-key-table.md");
  private static final int KEYS = 100;
  private static final Context.Key<String> KEY = Context.key("key");

  @BeforeAll
  static void makeTables() {
    database.execute(
        "CREATE TABLE app.idempotency_keys (key text PRIMARY KEY, response bytea NOT NULL)");
    database.execute("CREATE TABLE app.orders (id uuid PRIMARY KEY, item text, key text)");
    database.execute(
        "GRANT SELECT, INSERT, UPDATE ON app.idempotency_keys, app.orders TO things_app");
  }

  // The service.

  private Thing createOrder(Handle handle, CreateThingRequest request) {
    UUID id = UUID.randomUUID();
    handle.execute("INSERT INTO app.orders VALUES (?, ?, ?)", id, request.getName(), KEY.get());
    return Thing.newBuilder().setId(id.toString()).setName(request.getName()).build();
  }

  private Thing createOnce(Handle handle, String key, CreateThingRequest request) {
    int claimed =
        handle.execute(
            "INSERT INTO app.idempotency_keys VALUES (?, '') ON CONFLICT (key) DO NOTHING", key);
    if (claimed == 0) { // another call was first: its answer is committed
      return answerOf(handle, key);
    }
    Thing order = createOrder(handle, request);
    handle.execute(
        "UPDATE app.idempotency_keys SET response = ? WHERE key = ?", order.toByteArray(), key);
    return order;
  }

  private static Thing answerOf(Handle handle, String key) {
    byte[] answer =
        handle
            .select("SELECT response FROM app.idempotency_keys WHERE key = ?", key)
            .mapTo(byte[].class)
            .one();
    try {
      return Thing.parseFrom(answer);
    } catch (InvalidProtocolBufferException malformed) {
      throw new UncheckedIOException(malformed);
    }
  }

  // Its servers, before, during and after the move.

  private ThingServer withItsOwnTable() {
    Jdbi jdbi = Jdbi.create(database.newAppPool());
    return start(
        ThingServer.on(Transport.IN_PROCESS)
            .bare()
            .handler(
                (request, answer) ->
                    ThingHandler.answer(
                        answer,
                        jdbi.inTransaction(handle -> createOnce(handle, KEY.get(), request)))));
  }

  private ThingServer withBoth() {
    return start(
        protectedServer()
            .handler(
                (request, answer) -> {
                  Thing order = createOnce(ClaimJdbi.handle(), KEY.get(), request);
                  ThingHandler.answer(answer, order);
                }));
  }

  private ThingServer withTheLibrary() {
    return start(
        protectedServer()
            .handler(
                (request, answer) -> {
                  Thing order = createOrder(ClaimJdbi.handle(), request);
                  ThingHandler.answer(answer, order);
                }));
  }

  private ThingServer.Builder protectedServer() {
    PostgresIdempotencyStore store =
        PostgresIdempotencyStore.builder(database.newAppPool()).build();
    return ThingServer.on(Transport.IN_PROCESS)
        .store(store)
        .closing(store::close)
        .withoutResource()
        .createThing(thing -> thing.execution(Execution.TRANSACTIONAL));
  }

  private ThingServer start(ThingServer.Builder builder) {
    return grpc.registerCloseable(builder.outside(new KeyOfTheCall()).start());
  }

  private static final class KeyOfTheCall implements ServerInterceptor {
    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
      Context context = Context.current().withValue(KEY, headers.get(IdempotencyMetadata.KEY));
      return Contexts.interceptCall(context, call, headers, next);
    }
  }

  // The move.

  @Test
  void noKeyHasTwoOrdersWhileServersWithBothReplaceThoseWithTheOwnTable() {
    assertThat(keysWithTwoOrders(withItsOwnTable(), withBoth())).isZero();
  }

  @Test
  void noKeyHasTwoOrdersWhileServersWithTheLibraryReplaceThoseWithBoth() {
    assertThat(keysWithTwoOrders(withBoth(), withTheLibrary())).isZero();
  }

  @Test
  void keysHaveTwoOrdersIfNoServersWithBothComeBetween() {
    assertThat(keysWithTwoOrders(withItsOwnTable(), withTheLibrary())).isEqualTo(KEYS);
  }

  @Test
  void keysHaveTwoOrdersIfTheOwnTableIsLeftBeforeItsKeysHaveExpired() {
    ThingClient own = ThingClient.on(withItsOwnTable().channel());
    ThingClient both = ThingClient.on(withBoth().channel());
    ThingClient library = ThingClient.on(withTheLibrary().channel());

    Reply first = send(own, own);
    assertThat(send(library, own).bytes()).isNotEqualTo(first.bytes());

    ThingClient other = own.withNewKey();
    Reply second = send(own, other);
    assertThat(send(both, other).bytes()).isEqualTo(second.bytes());
    assertThat(send(library, other).bytes())
        .as("the library has recorded the answer of the own table")
        .isEqualTo(second.bytes());
  }

  @Test
  void thePageShowsThisCode() throws IOException {
    Path source =
        RepositoryRoot.resolve(
            "store-postgres/src/test/java/io/github/grpcidempotency/postgres/OwnKeyTableTest.java");

    assertThat(Snippets.of(PAGE, "java"))
        .isNotEmpty()
        .allMatch(snippet -> Snippets.isCutFrom(snippet, source));
  }

  /** Every key is sent to both servers at once, and then once more to each. */
  private static int keysWithTwoOrders(ThingServer before, ThingServer after) {
    List<ThingClient> servers =
        Stream.of(before, after).map(server -> ThingClient.on(server.channel())).toList();
    Set<String> keys = new HashSet<>();
    for (int call = 0; call < KEYS; call++) {
      ThingClient caller = servers.get(0).withNewKey();
      keys.add(caller.key());
      List<CompletableFuture<Reply>> together =
          servers.stream()
              .map(server -> CompletableFuture.supplyAsync(() -> send(server, caller)))
              .toList();
      together.forEach(CompletableFuture::join);
      servers.forEach(server -> send(server, caller));
    }
    return database
        .superuser()
        .withHandle(
            handle ->
                handle
                    .select("SELECT key FROM app.orders GROUP BY key HAVING count(*) > 1")
                    .mapTo(String.class)
                    .stream()
                    .filter(keys::contains)
                    .toList())
        .size();
  }

  /** Retries a call as long as the other server runs it. */
  private static Reply send(ThingClient server, ThingClient caller) {
    Reply answer =
        await()
            .until(
                () -> server.like(caller).createThing(Things.named("book")),
                reply -> reply.status().getCode() != Status.Code.ABORTED);
    assertThat(answer.status()).isEqualTo(Status.OK);
    return answer;
  }
}
