package io.github.grpcidempotency.features;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.features.shop.v1.CreateOrderRequest;
import io.github.grpcidempotency.features.shop.v1.Order;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.postgres.ClaimJdbi;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;

/** The handler writes through the transaction of its call: effect and record are one commit. */
final class TransactionalHandler extends OrderServiceGrpc.OrderServiceImplBase {
  @Override
  public void createOrder(CreateOrderRequest request, StreamObserver<Order> observer) {
    Handle database = ClaimJdbi.handle(); // for JDBC: ClaimTransaction.connection()
    UUID id = UuidCreator.getTimeOrderedEpoch();
    database.execute("INSERT INTO shop.orders (id, item) VALUES (?, ?)", id, request.getItem());
    // The interceptor commits before it sends the answer, and rolls back if the handler fails.
    Shop.answer(
        observer, Order.newBuilder().setId(id.toString()).setItem(request.getItem()).build());
  }

  static List<Reply<Order>> run(DataSource pool) throws IOException {
    try (Shop shop = Shop.open(pool, new TransactionalHandler())) {
      OrderServiceBlockingStub stub = OrderServiceGrpc.newBlockingStub(shop.channel());
      Intent intent = Intent.create(); // has one key, which both calls send
      CreateOrderRequest book = CreateOrderRequest.newBuilder().setItem("book").build();
      Reply<Order> first = Reply.blocking(intent.on(stub), orders -> orders.createOrder(book));
      Reply<Order> retry = Reply.blocking(intent.on(stub), orders -> orders.createOrder(book));
      return List.of(first, retry);
    }
  }
}
