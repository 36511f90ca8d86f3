package io.github.grpcidempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.grpcidempotency.client.testing.v1.Order;
import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.shop.Databases;
import io.github.grpcidempotency.shop.EchoServer;
import io.github.grpcidempotency.shop.EchoServer.Answer;
import io.github.grpcidempotency.shop.EchoServer.Seen;
import io.github.grpcidempotency.shop.ShopServer;
import io.grpc.CallOptions;
import io.grpc.ServiceDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How gRPC's own retries use the config and the key. */
class ServiceConfigsTest {
  private static final OrderRequest REQUEST = OrderRequest.newBuilder().setName("tea").build();

  @Test
  void allOfGrpcsAttemptsShareOneKeyAndOneEffect() {
    Databases.Database database = Databases.shop();
    try (ShopServer server = new ShopServer(database).losingAnswers(2)) {
      Reply<Order> reply =
          Reply.blocking(
              OrderServiceGrpc.newBlockingStub(server.channel(ServiceConfigsTest::configured)),
              stub -> stub.createOrder(REQUEST));

      assertThat(reply.replayed()).isTrue();
      assertThat(server.runs()).isEqualTo(1);
      assertThat(server.keys()).hasSize(3);
      assertThat(server.keys().stream().distinct()).hasSize(1).doesNotContain("null");
      assertThat(database.column("SELECT id FROM shop.orders"))
          .containsExactly(reply.response().getId());
    }
  }

  @Test
  void anErrorFreesTheKeySoThatTheNextAttemptRunsTheHandlerAgain() {
    try (ShopServer server = new ShopServer(Databases.shop()).failing(2)) {
      Reply<Order> reply =
          Reply.blocking(
              OrderServiceGrpc.newBlockingStub(server.channel(ServiceConfigsTest::configured)),
              stub -> stub.createOrder(REQUEST));

      assertThat(reply.replayed()).isFalse();
      assertThat(server.runs()).isEqualTo(3);
      assertThat(server.keys()).hasSize(3);
      assertThat(server.keys().stream().distinct()).hasSize(1);
    }
  }

  @Test
  void thereAreAtMostFiveAttempts() {
    try (EchoServer server = new EchoServer()) {
      for (int i = 0; i < 10; i++) {
        server.answering(Answer.of(i % 2 == 0 ? Status.UNAVAILABLE : Status.ABORTED));
      }

      Status.Code code = failure(() -> stub(server).createOrder(REQUEST));

      assertThat(code).isEqualTo(Status.Code.UNAVAILABLE);
      assertThat(server.seen()).hasSize(5);
      assertThat(server.seen().stream().map(Seen::key).distinct()).hasSize(1);
    }
  }

  @Test
  void eachAttemptSendsTheNumberOfEarlierAttempts() {
    try (EchoServer server = new EchoServer()) {
      server.answering(Answer.of(Status.UNAVAILABLE), Answer.of(Status.ABORTED));

      assertThat(stub(server).createOrder(REQUEST).getName()).isEqualTo("tea");

      assertThat(previousAttempts(server)).containsExactly("none", "1", "2");
      assertThat(server.seen()).extracting(EchoServer.Seen::hint).containsOnly("none");
    }
  }

  @Test
  void methodsWithoutKeysAreNotRepeated() {
    try (EchoServer server = new EchoServer()) {
      server.answering(Answer.of(Status.UNAVAILABLE), Answer.of(Status.UNAVAILABLE));

      assertThat(failure(() -> stub(server).refuseKeys(REQUEST)))
          .isEqualTo(Status.Code.UNAVAILABLE);
      assertThat(failure(() -> stub(server).getOrder(REQUEST))).isEqualTo(Status.Code.UNAVAILABLE);

      assertThat(server.seen()).hasSize(2);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CreateOfPattern", // no key fits that the client makes
        "CreateWithAssignedIdOnly",
        "CreateOfContent",
        "CreateWithPresentField", // the user may set an empty field
        "HandleKeys"
      })
  void aMethodWithCallsThatCarryNoKeyIsNotRepeated(String method) {
    try (EchoServer server = new EchoServer()) {
      server.answering(Answer.of(Status.UNAVAILABLE), Answer.of(Status.UNAVAILABLE));

      assertThat(failure(() -> call(server, method))).isEqualTo(Status.Code.UNAVAILABLE);

      assertThat(server.seen()).hasSize(1);
    }
  }

  @Test
  void aHeaderAmongSeveralSourcesCarriesTheKeyOfAllAttempts() {
    try (EchoServer server = new EchoServer()) {
      for (String method : List.of("CreateWithAssignedId", "CreateWithPatternOrHeader")) {
        server.answering(Answer.of(Status.UNAVAILABLE));

        call(server, method);
      }

      assertThat(server.seen()).hasSize(4).allMatch(seen -> seen.header("x-order-key").isPresent());
      assertThat(server.seen().stream().map(seen -> seen.header("x-order-key")).distinct())
          .hasSize(2);
    }
  }

  private static void call(EchoServer server, String method) {
    Order unused =
        ClientCalls.blockingUnaryCall(
            server.channel(ServiceConfigsTest::configured),
            EchoServer.method(method),
            CallOptions.DEFAULT,
            REQUEST);
  }

  @Test
  void aServiceWithoutSuchMethodsIsRefused() {
    assertThatThrownBy(() -> ServiceConfigs.of(ServiceDescriptor.newBuilder("empty").build()))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static OrderServiceBlockingStub stub(EchoServer server) {
    return OrderServiceGrpc.newBlockingStub(server.channel(ServiceConfigsTest::configured));
  }

  private static List<String> previousAttempts(EchoServer server) {
    return server.seen().stream()
        .map(seen -> seen.header("grpc-previous-rpc-attempts").orElse("none"))
        .toList();
  }

  private static NettyChannelBuilder configured(NettyChannelBuilder builder) {
    return builder
        .intercept(IdempotencyClientInterceptor.create())
        .defaultServiceConfig(ServiceConfigs.of(OrderServiceGrpc.getServiceDescriptor()));
  }

  private static Status.Code failure(Runnable call) {
    return catchThrowableOfType(StatusRuntimeException.class, call::run).getStatus().getCode();
  }
}
