package io.github.grpcidempotency.features;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.features.shop.v1.CreateOrderRequest;
import io.github.grpcidempotency.features.shop.v1.Order;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.postgres.ClaimJdbi;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/** The trailer of every answer has the status of the asynchronous work behind the order. */
final class OutboxStatus extends OrderServiceGrpc.OrderServiceImplBase {
  private static final Procedure CREATE_ORDER =
      Procedure.annotated(OrderServiceGrpc.getCreateOrderMethod())
          .status(
              OutboxQuery.of(
                      "SELECT status FROM shop.outbox WHERE order_id = :resource_id"
                          + " ORDER BY id DESC LIMIT 1")
                  .map(IdempotencyStatus.PROCESSING, "pending")
                  .map(IdempotencyStatus.COMPLETED, "done")
                  .map(IdempotencyStatus.FAILED, "failed")
                  .build())
          .build();

  @Override
  public void createOrder(CreateOrderRequest request, StreamObserver<Order> observer) {
    Handle database = ClaimJdbi.handle();
    UUID id = UuidCreator.getTimeOrderedEpoch();
    database.execute("INSERT INTO shop.orders (id, item) VALUES (?, ?)", id, request.getItem());
    database.execute("INSERT INTO shop.outbox (order_id) VALUES (?)", id);
    Shop.answer(observer, Order.newBuilder().setId(id.toString()).build());
  }

  static List<Reply<Order>> run(DataSource pool) throws IOException {
    try (Shop shop = Shop.open(pool, new OutboxStatus(), CREATE_ORDER)) {
      OrderServiceBlockingStub stub = OrderServiceGrpc.newBlockingStub(shop.channel());
      Intent intent = Intent.create();
      CreateOrderRequest book = CreateOrderRequest.newBuilder().setItem("book").build();
      Reply<Order> first = Reply.blocking(intent.on(stub), orders -> orders.createOrder(book));
      // Stands for the worker of the outbox.
      Jdbi.create(pool)
          .useHandle(worker -> worker.execute("UPDATE shop.outbox SET status = 'done'"));
      Reply<Order> later = Reply.blocking(intent.on(stub), orders -> orders.createOrder(book));
      return List.of(first, later);
    }
  }
}
