package io.github.grpcidempotency.features;

import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.features.shop.v1.CreateOrderRequest;
import io.github.grpcidempotency.features.shop.v1.Order;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import io.github.grpcidempotency.proto.v1.RecoveryGrpc;
import java.io.IOException;
import javax.sql.DataSource;

/**
 * A client that has only the key of a call reads the recorded answer. {@link Shop#open} registers
 * the service {@code Recovery}.
 */
final class RecoveredAnswer {
  /** The answer of the call, and the answer of {@code Recovery}. */
  record Answers(Order first, Order recovered) {}

  private RecoveredAnswer() {}

  static Answers run(DataSource pool) throws IOException {
    try (Shop shop = Shop.open(pool, new TransactionalHandler())) {
      OrderServiceBlockingStub stub = OrderServiceGrpc.newBlockingStub(shop.channel());
      Intent intent = Intent.create();
      CreateOrderRequest book = CreateOrderRequest.newBuilder().setItem("book").build();
      Order first = intent.on(stub).createOrder(book);

      RecoverResponse found =
          RecoveryGrpc.newBlockingStub(shop.channel())
              .recover(
                  RecoverRequest.newBuilder()
                      .setMethod(OrderServiceGrpc.getCreateOrderMethod().getFullMethodName())
                      .setKey(intent.keyFor(OrderServiceGrpc.getCreateOrderMethod()).orElseThrow())
                      .build());
      return new Answers(first, found.getResponse().unpack(Order.class));
    }
  }
}
