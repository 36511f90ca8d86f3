package io.github.grpcidempotency.features;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.client.CallFailedException;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.client.RetryingCaller;
import io.github.grpcidempotency.features.shop.v1.CreateOrderRequest;
import io.github.grpcidempotency.features.shop.v1.Order;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.postgres.ClaimJdbi;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** A client repeats a call for up to two hours, and then reports whether it was executed. */
final class RetryingClient {
  private static final RetryingCaller CALLER =
      RetryingCaller.builder().within(Duration.ofHours(2)).build();

  private RetryingClient() {}

  static String buy(OrderServiceBlockingStub stub, String item) {
    CreateOrderRequest request = CreateOrderRequest.newBuilder().setItem(item).build();
    Intent intent = Intent.create();
    try {
      Reply<Order> reply =
          CALLER.call(intent.on(stub), OrderServiceGrpc.getCreateOrderMethod(), request);
      return "bought: " + reply.response().getItem();
    } catch (CallFailedException failure) {
      return switch (failure.outcome()) {
        case NEVER_EXECUTED -> "nothing has happened";
        case EXECUTED -> "refused: " + failure.getStatus().getDescription();
        case UNKNOWN -> "unknown: retry later, with the intent " + failure.intent();
      };
    }
  }

  /** A service whose first two calls fail. */
  private static final class Flaky extends OrderServiceGrpc.OrderServiceImplBase {
    private final AtomicInteger calls = new AtomicInteger();

    @Override
    public void createOrder(CreateOrderRequest request, StreamObserver<Order> observer) {
      UUID id = UuidCreator.getTimeOrderedEpoch();
      ClaimJdbi.handle().execute("INSERT INTO shop.orders VALUES (?, ?)", id, request.getItem());
      if (calls.incrementAndGet() <= 2) {
        observer.onError(Status.UNAVAILABLE.asRuntimeException());
      } else {
        Shop.answer(
            observer, Order.newBuilder().setId(id.toString()).setItem(request.getItem()).build());
      }
    }
  }

  static String run(DataSource pool) throws IOException {
    try (Shop shop = Shop.open(pool, new Flaky())) {
      return buy(OrderServiceGrpc.newBlockingStub(shop.channel()), "book");
    }
  }
}
