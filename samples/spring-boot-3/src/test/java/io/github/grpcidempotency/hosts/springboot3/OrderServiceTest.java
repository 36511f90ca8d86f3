package io.github.grpcidempotency.hosts.springboot3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.github.grpcidempotency.hosts.orders.v1.CreateOrderRequest;
import io.github.grpcidempotency.hosts.orders.v1.Order;
import io.github.grpcidempotency.hosts.orders.v1.OrderServiceGrpc;
import io.github.grpcidempotency.hosts.orders.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.testing.PostgresFixture;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.grpc.client.interceptor.security.BasicAuthenticationInterceptor;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.jdbc.core.simple.JdbcClient;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OrderServiceTest {
  @RegisterExtension
  static final PostgresFixture database =
      PostgresFixture.withRoles("shop_owner", "shop_app").create();

  private static final CreateOrderRequest BOOK =
      CreateOrderRequest.newBuilder().setItem("book").build();

  private final AtomicReference<Metadata> trailers = new AtomicReference<>();
  private ConfigurableApplicationContext application;
  private ManagedChannel channel;

  @BeforeAll
  void start() {
    application =
        SpringApplication.run(
            OrdersApplication.class,
            "--spring.datasource.url=" + database.jdbcUrl("shop_app"),
            "--spring.flyway.url=" + database.jdbcUrl("shop_owner"),
            "--grpc.idempotency.migration.url=" + database.jdbcUrl("shop_owner"),
            "--spring.grpc.server.port=0");
    int port = application.getBean(GrpcServerLifecycle.class).getPort();
    channel =
        Grpc.newChannelBuilder("localhost:" + port, InsecureChannelCredentials.create()).build();
  }

  @AfterAll
  void stop() {
    channel.shutdownNow();
    application.close();
  }

  @Test
  void aRetryGetsTheFirstAnswerWithTheStatusAndMakesNothing() {
    OrderServiceBlockingStub alice = client("alice", UUID.randomUUID().toString());

    Order first = alice.createOrder(BOOK);
    boolean replayed = trailers.get().containsKey(IdempotencyMetadata.REPLAYED);
    Order retry = alice.createOrder(BOOK);

    assertThat(replayed).isFalse();
    assertThat(trailers.get().containsKey(IdempotencyMetadata.REPLAYED)).isTrue();
    assertThat(trailers.get().get(IdempotencyMetadata.STATUS)).isEqualTo("processing");
    assertThat(retry).isEqualTo(first);
    assertThat(count("shop.orders")).isEqualTo(1);
    assertThat(
            count(
                "shop.orders JOIN idempotency.idempotency_keys AS keys ON keys.xmin = orders.xmin"))
        .as("an order that was written in the transaction of its record")
        .isEqualTo(1);
  }

  @Test
  void aFailedHandlerLeavesNoRow() {
    CreateOrderRequest refused =
        CreateOrderRequest.newBuilder().setItem("refused after the insert").build();

    assertThatThrownBy(() -> client("alice", UUID.randomUUID().toString()).createOrder(refused))
        .isInstanceOf(StatusRuntimeException.class);

    assertThat(count("shop.orders")).isZero();
    assertThat(count("idempotency.idempotency_keys")).isZero();
  }

  @Test
  void aKeyBelongsToItsCaller() {
    String key = UUID.randomUUID().toString();

    Order alices = client("alice", key).createOrder(BOOK);
    Order bobs = client("bob", key).createOrder(BOOK);

    assertThat(bobs).isNotEqualTo(alices);
  }

  @Test
  void callsAreCounted() {
    Order unused = client("alice", UUID.randomUUID().toString()).createOrder(BOOK);

    assertThat(
            application.getBean(MeterRegistry.class).getMeters().stream()
                .map(meter -> meter.getId().getName()))
        .anyMatch(name -> name.startsWith("idempotency"));
  }

  private OrderServiceBlockingStub client(String user, String key) {
    Metadata headers = new Metadata();
    headers.put(IdempotencyMetadata.KEY, key);
    return OrderServiceGrpc.newBlockingStub(channel)
        .withInterceptors(
            as(user),
            MetadataUtils.newAttachHeadersInterceptor(headers),
            MetadataUtils.newCaptureMetadataInterceptor(new AtomicReference<>(), trailers));
  }

  private static BasicAuthenticationInterceptor as(String user) {
    return new BasicAuthenticationInterceptor(user, "password of " + user);
  }

  /** Counts as a superuser, who sees past row-level security. */
  private static int count(String rows) {
    return JdbcClient.create(database.superuser())
        .sql("SELECT count(*) FROM " + rows)
        .query(Integer.class)
        .single();
  }
}
