package io.github.grpcidempotency.client.intents;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.longrunning.Operation;
import com.google.longrunning.OperationsGrpc;
import com.google.longrunning.WaitOperationRequest;
import com.google.protobuf.InvalidProtocolBufferException;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.client.CallFailedException;
import io.github.grpcidempotency.client.IdempotencyClientInterceptor;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.client.RetryingCaller;
import io.github.grpcidempotency.client.ServiceConfigs;
import io.github.grpcidempotency.client.testing.v1.Order;
import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.proto.v1.OperationMetadata;
import io.github.grpcidempotency.shop.Databases;
import io.github.grpcidempotency.shop.EchoServer;
import io.github.grpcidempotency.shop.ShopServer;
import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.test.Snippets;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The code on the page "write a client" is cut from this file, and runs. */
class HowToPageTest {
  private static final Path PAGE = RepositoryRoot.resolve("docs/how-to/write-a-client.md");
  private static final Path SOURCE =
      Path.of("src/test/java/io/github/grpcidempotency/client/intents/HowToPageTest.java");

  private static final Databases.Database shop = Databases.shop();
  private static final Databases.Database buyer = ClientDatabase.buyer();

  private final ShopServer server = new ShopServer(shop);
  private final HikariDataSource pool = buyer.pool();
  private final String target = "localhost:" + server.port();
  private final List<String> notes = new ArrayList<>();
  private final OrderRequest request = OrderRequest.newBuilder().setName("tea").build();

  @AfterEach
  void close() {
    server.close();
    pool.close();
    buyer.execute("DELETE FROM buyer.answers");
  }

  @Test
  void everySnippetOfThePageIsCutFromHere() throws Exception {
    List<String> snippets = Snippets.of(PAGE);

    assertThat(snippets).hasSizeGreaterThan(5);
    assertThat(snippets).allMatch(snippet -> Snippets.isCutFrom(snippet, SOURCE));
  }

  @Test
  void keysRetriesAndRepliesWorkAsShown() throws Exception {
    ManagedChannel channel =
        Grpc.newChannelBuilder(target, InsecureChannelCredentials.create())
            .intercept(IdempotencyClientInterceptor.create()) // before all other interceptors
            .defaultServiceConfig(ServiceConfigs.of(OrderServiceGrpc.getServiceDescriptor()))
            .build();
    OrderServiceBlockingStub stub = OrderServiceGrpc.newBlockingStub(channel);

    Intent intent = Intent.create(); // when the user decides
    Order order = intent.on(stub).createOrder(request);
    assertThat(order.getName()).isEqualTo("tea");

    Reply<Order> reply = Reply.blocking(intent.on(stub), orders -> orders.createOrder(request));
    if (reply.replayed()) {
      notes.add("done before, as operation " + reply.operationId().orElseThrow());
    }
    assertThat(notes).hasSize(1);

    patiently(stub, intent);
    assertThat(notes).hasSize(2);
    channel.shutdownNow();
  }

  @Test
  void anAnswerWithoutProtectionIsReportedAsShown() {
    IdempotencyClientInterceptor keys =
        IdempotencyClientInterceptor.create()
            .requireProtection() // sends idempotency-required: true
            .onUnprotected(method -> notes.add(method.getFullMethodName() + " was not protected"));
    try (EchoServer other = new EchoServer()) {
      Intent intent = Intent.create();
      Order unused =
          intent
              .on(
                  OrderServiceGrpc.newBlockingStub(
                      other.channel(builder -> builder.intercept(keys))))
              .createOrder(request);
      assertThat(notes).hasSize(1);

      Reply<Order> reply =
          Reply.blocking(
              intent.on(
                  OrderServiceGrpc.newBlockingStub(
                      server.channel(builder -> builder.intercept(keys)))),
              orders -> orders.createOrder(request));
      assertThat(reply.isProtected()).isTrue();
      assertThat(notes).hasSize(1);
    }
  }

  private void patiently(OrderServiceBlockingStub stub, Intent intent) {
    RetryingCaller caller = RetryingCaller.builder().within(Duration.ofHours(2)).build();
    try {
      Reply<Order> reply =
          caller.call(intent.on(stub), OrderServiceGrpc.getCreateOrderMethod(), request);
      notes.add(reply.response().getId());
    } catch (CallFailedException failure) {
      switch (failure.outcome()) {
        case NEVER_EXECUTED -> notes.add("not executed: buy elsewhere");
        case EXECUTED -> notes.add("refused by the shop: " + failure.getStatus().getDescription());
        case UNKNOWN -> notes.add("unknown: retry later, with " + failure.intent());
      }
    }
  }

  @Test
  void theWorkBehindAnAnswerIsAwaitedAsShown() throws Exception {
    Databases.Database packingShop = Databases.packingShop();
    try (ShopServer packing = ShopServer.packing(packingShop)) {
      ManagedChannel channel =
          packing.channel(builder -> builder.intercept(IdempotencyClientInterceptor.create()));
      OrderServiceBlockingStub stub = OrderServiceGrpc.newBlockingStub(channel);
      Intent intent = Intent.create();

      Reply<Order> reply = Reply.blocking(intent.on(stub), orders -> orders.createOrder(request));
      packingShop.execute("UPDATE shop.outbox SET state = 'out of stock'");
      await(channel, reply);

      assertThat(reply.status()).contains(Reply.Status.PROCESSING);
      assertThat(notes).containsExactly("ordered, and packing it has failed");
      assertThat(Reply.blocking(intent.on(stub), orders -> orders.createOrder(request)).status())
          .contains(Reply.Status.FAILED);
    }
  }

  private void await(ManagedChannel channel, Reply<Order> reply)
      throws InvalidProtocolBufferException {
    WaitOperationRequest wait =
        WaitOperationRequest.newBuilder()
            .setName(reply.operationId().orElseThrow().toString())
            .setTimeout(com.google.protobuf.Duration.newBuilder().setSeconds(300))
            .build();
    Operation operation = OperationsGrpc.newBlockingStub(channel).waitOperation(wait);
    switch (operation.getMetadata().unpack(OperationMetadata.class).getState()) {
      case STATE_COMPLETED -> notes.add("ordered and packed");
      case STATE_FAILED -> notes.add("ordered, and packing it has failed");
      default -> notes.add("ordered, and not packed yet"); // wait again
    }
  }

  @Test
  void intentsInADatabaseWorkAsShown() throws Exception {
    IntentStore intents = IntentStore.postgres(pool);
    ManagedChannel channel = server.channel(builder -> builder);
    OrderServiceBlockingStub stub = OrderServiceGrpc.newBlockingStub(channel);

    IntentWorker worker =
        IntentWorker.builder(intents)
            .method("shop", stub, OrderServiceGrpc.getCreateOrderMethod(), new Orders())
            .build()
            .start();

    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      markAsDecided(connection);
      intents.write(connection, "shop", OrderServiceGrpc.getCreateOrderMethod(), request);
      connection.commit();
    }
    worker.wake();

    Awaitility.await().until(() -> buyer.column("SELECT order_id FROM buyer.answers").size() == 1);
    worker.close();
  }

  /** Notes the answers in the client's database. */
  private final class Orders implements IntentCallback<Order> {
    @Override
    public void answered(Intent intent, Reply<Order> reply) throws SQLException {
      noteOnce(intent.toString(), reply.response().getId());
    }

    @Override
    public void failed(Intent intent, CallFailedException failure) throws SQLException {
      noteOnce(intent.toString(), "failed: " + failure.outcome());
    }
  }

  private void noteOnce(String key, String orderId) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(
          """
          INSERT INTO buyer.answers SELECT '%1$s', '%2$s'
           WHERE NOT EXISTS (SELECT FROM buyer.answers WHERE key = '%1$s')
          """
              .formatted(key, orderId));
    }
  }

  private static void markAsDecided(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("INSERT INTO buyer.decisions VALUES ('tea')");
    }
  }
}
