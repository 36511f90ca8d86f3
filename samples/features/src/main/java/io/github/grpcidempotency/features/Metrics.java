package io.github.grpcidempotency.features;

import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.features.shop.v1.CreateOrderRequest;
import io.github.grpcidempotency.features.shop.v1.Order;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.micrometer.IdempotencyMetrics;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Procedures;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.util.List;
import javax.sql.DataSource;

/** A listener exports counters and timers to Micrometer. */
final class Metrics {
  private Metrics() {}

  static List<Order> run(DataSource pool, MeterRegistry registry) throws IOException {
    Procedures procedures =
        Procedures.builder().addAnnotated(OrderServiceGrpc.getServiceDescriptor()).build();
    PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(pool).build();
    IdempotencyInterceptor idempotency =
        IdempotencyInterceptor.builder(procedures, Shop::caller)
            .store(store)
            .listener(IdempotencyMetrics.builder(registry).build())
            .build();
    try (Shop shop = Shop.open(new TransactionalHandler(), idempotency, store::close)) {
      OrderServiceBlockingStub stub =
          Intent.create().on(OrderServiceGrpc.newBlockingStub(shop.channel()));
      CreateOrderRequest book = CreateOrderRequest.newBuilder().setItem("book").build();
      return List.of(stub.createOrder(book), stub.createOrder(book));
    }
  }
}
