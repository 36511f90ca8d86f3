package io.github.grpcidempotency.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.github.grpcidempotency.quickstart.OrderClient.Reply;
import io.github.grpcidempotency.quickstart.orders.v1.CreateOrderRequest;
import io.github.grpcidempotency.quickstart.orders.v1.Order;
import io.github.grpcidempotency.quickstart.orders.v1.OrderServiceGrpc;
import io.github.grpcidempotency.testing.PostgresFixture;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.stub.MetadataUtils;
import io.grpc.testing.StreamRecorder;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a service's own tests of an idempotent method look like. */
class OrderServiceTest {
  @RegisterExtension
  static final PostgresFixture database =
      PostgresFixture.withRoles("shop_owner", "shop_app").migrate(Database::migrate).create();

  @AutoClose("stop")
  private final OrderServer server = OrderServer.start(database.pool(), OrderServer::authenticate);

  private final OrderClient client = OrderClient.connect(server.server().getPort(), "auth0|alice");

  @AutoClose("shutdownNow")
  private final ManagedChannel channel = client.channel();

  OrderServiceTest() throws IOException {}

  @Test
  void aRetryGetsTheFirstAnswer() {
    UUID key = UUID.randomUUID();
    CreateOrderRequest book = CreateOrderRequest.newBuilder().setItem("book").build();

    Reply<Order> first = client.call(key, stub -> stub.createOrder(book));
    Reply<Order> retry = client.call(key, stub -> stub.createOrder(book));

    assertThat(retry.answer()).isEqualTo(first.answer());
    assertThat(retry.replayed()).isTrue();
  }

  @Test
  @SuppressWarnings("deprecation") // grpc-testing has no other recorder for its users
  void twentyCallsAtOnceCreateOneOrder() throws Exception {
    Metadata headers = new Metadata();
    headers.put(IdempotencyMetadata.KEY, UUID.randomUUID().toString());
    headers.put(OrderServer.SUBJECT_HEADER, client.subject());
    CreateOrderRequest book = CreateOrderRequest.newBuilder().setItem("book").build();

    List<StreamRecorder<Order>> answers = new ArrayList<>();
    for (int call = 0; call < 20; call++) {
      StreamRecorder<Order> answer = StreamRecorder.create();
      OrderServiceGrpc.newStub(channel)
          .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
          .createOrder(book, answer);
      answers.add(answer);
    }

    Set<Order> orders = new HashSet<>();
    for (StreamRecorder<Order> answer : answers) {
      assertThat(answer.awaitCompletion(10, TimeUnit.SECONDS)).isTrue();
      assertThat(answer.getError()).isNull();
      orders.addAll(answer.getValues());
    }
    assertThat(orders).hasSize(1);
    assertThat(count("shop.orders")).isEqualTo(1);
  }

  /** Counts as a superuser, who sees past row-level security. */
  private static int count(String table) throws SQLException {
    try (Connection superuser = database.superuser().getConnection();
        ResultSet result =
            superuser.createStatement().executeQuery("SELECT count(*) FROM " + table)) {
      result.next();
      return result.getInt(1);
    }
  }
}
