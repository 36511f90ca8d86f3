package io.github.grpcidempotency.hosts.springboot3;

import io.github.grpcidempotency.hosts.orders.v1.CreateOrderRequest;
import io.github.grpcidempotency.hosts.orders.v1.Order;
import io.github.grpcidempotency.hosts.orders.v1.OrderServiceGrpc;
import io.grpc.stub.StreamObserver;
import org.springframework.grpc.server.service.GrpcService;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;

/** Orders, by JDBC. */
@GrpcService
class OrderApi extends OrderServiceGrpc.OrderServiceImplBase {
  private final JdbcClient database;

  OrderApi(JdbcClient database) {
    this.database = database;
  }

  /** Joins the transaction of the call. */
  @Override
  @Transactional
  public void createOrder(CreateOrderRequest request, StreamObserver<Order> observer) {
    String id =
        database
            .sql("INSERT INTO shop.orders (item) VALUES (?) RETURNING id")
            .param(request.getItem())
            .query(String.class)
            .single();
    if (request.getItem().equals("refused after the insert")) {
      throw new IllegalArgumentException("not for sale");
    }
    observer.onNext(Order.newBuilder().setId(id).setItem(request.getItem()).build());
    observer.onCompleted();
  }
}
