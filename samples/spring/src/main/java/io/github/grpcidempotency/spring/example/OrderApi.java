package io.github.grpcidempotency.spring.example;

import io.github.grpcidempotency.spring.example.shop.v1.CreateOrderRequest;
import io.github.grpcidempotency.spring.example.shop.v1.Order;
import io.github.grpcidempotency.spring.example.shop.v1.OrderServiceGrpc;
import io.grpc.stub.StreamObserver;
import org.springframework.grpc.server.service.GrpcService;

/** Transactional. An ordinary handler. */
@GrpcService
class OrderApi extends OrderServiceGrpc.OrderServiceImplBase {
  private final Orders orders;

  OrderApi(Orders orders) {
    this.orders = orders;
  }

  @Override
  public void createOrder(CreateOrderRequest request, StreamObserver<Order> observer) {
    CustomerOrder order = orders.place(request.getItem());
    observer.onNext(Order.newBuilder().setId(order.id().toString()).setItem(order.item()).build());
    observer.onCompleted();
  }
}
