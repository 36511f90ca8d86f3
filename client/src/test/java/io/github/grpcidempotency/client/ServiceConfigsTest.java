package io.github.grpcidempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.grpcidempotency.client.EchoServer.Answer;
import io.github.grpcidempotency.client.EchoServer.Seen;
import io.github.grpcidempotency.client.testing.v1.Order;
import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.fault.FaultProxy;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientStreamTracer;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServiceDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

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
      assertThat(server.seen()).extracting(RetryHintTest::hint).containsOnly("none");
    }
  }

  @Test
  void aHedgedAttemptIsMarkedAsALaterAttempt() {
    Map<String, ?> hedging =
        Map.of(
            "methodConfig",
            List.of(
                Map.of(
                    "name",
                    List.of(Map.of("service", OrderServiceGrpc.SERVICE_NAME)),
                    "hedgingPolicy",
                    Map.of("maxAttempts", 2.0, "hedgingDelay", "0.05s"))));
    try (EchoServer server = new EchoServer().answering(Answer.none())) {
      OrderServiceBlockingStub stub =
          OrderServiceGrpc.newBlockingStub(
              server.channel(
                  builder ->
                      builder
                          .intercept(IdempotencyClientInterceptor.create())
                          .defaultServiceConfig(hedging)));

      assertThat(stub.createOrder(REQUEST).getName()).isEqualTo("tea");

      assertThat(previousAttempts(server)).containsExactlyInAnyOrder("none", "1");
      assertThat(server.seen().stream().map(Seen::key).distinct()).hasSize(1);
    }
  }

  @Test
  void aPushbackIsObeyed() {
    try (EchoServer server = new EchoServer()) {
      server.answering(Answer.of(Status.NOT_FOUND).with("grpc-retry-pushback-ms", "400"));
      long begin = System.nanoTime();

      assertThat(stub(server).createOrder(REQUEST).getName()).isEqualTo("tea");

      assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofMillis(390));
      assertThat(server.seen()).hasSize(2);

      server.answering(Answer.of(Status.UNAVAILABLE).with("grpc-retry-pushback-ms", "-1"));
      assertThat(failure(() -> stub(server).createOrder(REQUEST)))
          .isEqualTo(Status.Code.UNAVAILABLE);
      assertThat(server.seen()).hasSize(3);
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

  @Test
  void aTransparentRetryHasTheKeyOfTheStreamThatWasRefused() {
    try (EchoServer server = new EchoServer();
        FaultProxy proxy = FaultProxy.before(server.port())) {
      proxy.replaceServerOnce(Goaway::refuseFirstCall);
      ManagedChannel channel =
          NettyChannelBuilder.forAddress("localhost", proxy.port())
              .usePlaintext()
              .intercept(IdempotencyClientInterceptor.create())
              .build();
      try {
        Streams streams = new Streams();
        OrderServiceBlockingStub stub = OrderServiceGrpc.newBlockingStub(channel);

        Order order =
            stub.withInterceptors(streams.tracing()).withWaitForReady().createOrder(REQUEST);

        assertThat(order.getName()).isEqualTo("tea");
        assertThat(streams.transparent).containsExactly(false, true);
        assertThat(streams.keys).hasSize(2).doesNotContain("null");
        assertThat(streams.keys.stream().distinct()).hasSize(1);
        assertThat(server.seen().stream().map(seen -> seen.key().orElse("none")))
            .containsExactly(streams.keys.get(0));
      } finally {
        channel.shutdownNow();
      }
    }
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

  /** What a call sent over connections: the header of every stream. */
  private static final class Streams extends ClientStreamTracer.Factory {
    private static final Metadata.Key<String> KEY =
        Metadata.Key.of("idempotency-key", Metadata.ASCII_STRING_MARSHALLER);

    private final List<String> keys = new CopyOnWriteArrayList<>();
    private final List<Boolean> transparent = new CopyOnWriteArrayList<>();

    ClientInterceptor tracing() {
      return new ClientInterceptor() {
        @Override
        public <RequestT, ResponseT> ClientCall<RequestT, ResponseT> interceptCall(
            MethodDescriptor<RequestT, ResponseT> method, CallOptions options, Channel next) {
          return next.newCall(method, options.withStreamTracerFactory(Streams.this));
        }
      };
    }

    @Override
    public ClientStreamTracer newClientStreamTracer(
        ClientStreamTracer.StreamInfo info, Metadata headers) {
      return new ClientStreamTracer() {
        @Override
        public void streamCreated(Attributes transport, Metadata sent) {
          transparent.add(info.isTransparentRetry());
          keys.add(Optional.ofNullable(sent.get(KEY)).orElse("null"));
        }
      };
    }
  }
}
