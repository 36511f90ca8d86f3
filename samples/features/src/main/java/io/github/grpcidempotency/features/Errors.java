package io.github.grpcidempotency.features;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.rpc.Code;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.features.shop.v1.CreateOrderRequest;
import io.github.grpcidempotency.features.shop.v1.Order;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.postgres.ClaimJdbi;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/** A terminal error is recorded, and every retry gets it. Any other error frees the key. */
final class Errors extends OrderServiceGrpc.OrderServiceImplBase {
  private static final Procedure CREATE_ORDER =
      Procedure.annotated(OrderServiceGrpc.getCreateOrderMethod())
          .failures(FailurePolicy.releaseAll().withTerminal(Code.FAILED_PRECONDITION))
          .build();
  private static final Status SOLD_OUT = Status.FAILED_PRECONDITION.withDescription("sold out");

  /** Stands for the state of the shop, which changes between two calls. */
  private volatile Status state = Status.OK;

  @Override
  public void createOrder(CreateOrderRequest request, StreamObserver<Order> observer) {
    UUID id = UuidCreator.getTimeOrderedEpoch();
    ClaimJdbi.handle().execute("INSERT INTO shop.orders VALUES (?, 'book')", id);
    if (state.isOk()) {
      Shop.answer(observer, Order.newBuilder().setId(id.toString()).build());
    } else {
      observer.onError(state.asRuntimeException()); // rolls back
    }
  }

  static List<Status.Code> run(DataSource pool) throws IOException {
    Errors handler = new Errors();
    try (Shop shop = Shop.open(pool, handler, CREATE_ORDER)) {
      OrderServiceBlockingStub stub = OrderServiceGrpc.newBlockingStub(shop.channel());
      Intent sold = Intent.create();
      Intent down = Intent.create();
      return List.of(
          handler.call(SOLD_OUT, sold.on(stub)),
          handler.call(Status.OK, sold.on(stub)), // replays the recorded error
          handler.call(Status.UNAVAILABLE, down.on(stub)),
          handler.call(Status.OK, down.on(stub))); // runs the handler, because the key is free
    }
  }

  private Status.Code call(Status now, OrderServiceBlockingStub stub) {
    state = now;
    try {
      Order unused = stub.createOrder(CreateOrderRequest.getDefaultInstance());
      return Status.Code.OK;
    } catch (StatusRuntimeException failure) {
      return failure.getStatus().getCode();
    }
  }
}
