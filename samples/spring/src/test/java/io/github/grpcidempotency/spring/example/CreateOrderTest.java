package io.github.grpcidempotency.spring.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.client.IdempotencyClientInterceptor;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.spring.example.shop.v1.CreateOrderRequest;
import io.github.grpcidempotency.spring.example.shop.v1.Order;
import io.github.grpcidempotency.spring.example.shop.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.testing.PostgresFixture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.grpc.test.autoconfigure.AutoConfigureTestGrpcTransport;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.grpc.client.ImportGrpcClients;
import org.springframework.grpc.client.interceptor.security.BasicAuthenticationInterceptor;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

@SpringBootTest
@AutoConfigureTestGrpcTransport
@ImportGrpcClients(types = OrderServiceBlockingStub.class)
class CreateOrderTest {
  @RegisterExtension
  static final PostgresFixture database =
      PostgresFixture.withRoles("shop_owner", "shop_app").create();

  @DynamicPropertySource
  static void connect(DynamicPropertyRegistry properties) {
    properties.add("spring.datasource.url", () -> database.jdbcUrl("shop_app"));
    properties.add("spring.flyway.url", () -> database.jdbcUrl("shop_owner"));
    properties.add("grpc.idempotency.migration.url", () -> database.jdbcUrl("shop_owner"));
  }

  @Test
  void aRetryMakesOneOrder(
      @Autowired OrderServiceBlockingStub orders, @Autowired OrderRepository repository) {
    OrderServiceBlockingStub alice =
        Intent.create() // one key for both calls
            .on(orders)
            .withInterceptors(IdempotencyClientInterceptor.create())
            .withInterceptors(new BasicAuthenticationInterceptor("alice", "password of alice"));
    CreateOrderRequest book = CreateOrderRequest.newBuilder().setItem("book").build();

    Order first = alice.createOrder(book);
    Order retry = alice.createOrder(book);

    assertThat(retry).isEqualTo(first);
    assertThat(repository.count()).isEqualTo(1);
  }
}
