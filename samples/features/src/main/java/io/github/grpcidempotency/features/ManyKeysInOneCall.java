package io.github.grpcidempotency.features;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.features.shop.v1.ImportOrdersRequest;
import io.github.grpcidempotency.features.shop.v1.ImportOrdersResponse;
import io.github.grpcidempotency.features.shop.v1.Order;
import io.github.grpcidempotency.features.shop.v1.OrderLine;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.postgres.ClaimJdbi;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.work.IdempotentWork;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/** An import with a key in each line: if it is sent again, only the remaining lines run. */
final class ManyKeysInOneCall extends OrderServiceGrpc.OrderServiceImplBase {
  private static final Procedure LINE =
      Procedure.named("shop.v1.OrderService/ImportOrders/line")
          .execution(Execution.TRANSACTIONAL)
          .build();

  private final IdempotentWork work;

  private ManyKeysInOneCall(IdempotentWork work) {
    this.work = work;
  }

  @Override
  public void importOrders(
      ImportOrdersRequest request, StreamObserver<ImportOrdersResponse> observer) {
    ImportOrdersResponse.Builder response = ImportOrdersResponse.newBuilder();
    try {
      for (OrderLine line : request.getLinesList()) {
        String token = "import:" + line.getToken();
        response.addOrders(
            work.run(
                    LINE, Shop.caller().orElseThrow(), token, line, Order.parser(), () -> add(line))
                .value());
      }
      Shop.answer(observer, response.build());
    } catch (Exception failed) { // the client sends the import again
      observer.onError(Status.UNAVAILABLE.withCause(failed).asRuntimeException());
    }
  }

  private static Order add(OrderLine line) {
    UUID id = UuidCreator.getTimeOrderedEpoch();
    ClaimJdbi.handle().execute("INSERT INTO shop.orders VALUES (?, ?)", id, line.getItem());
    return Order.newBuilder().setId(id.toString()).setItem(line.getItem()).build();
  }

  /** Sends an import of two lines, and then one of these two and a third line. */
  static List<ImportOrdersResponse> run(DataSource pool) throws Exception {
    OrderLine tea = OrderLine.newBuilder().setToken("1").setItem("tea").build();
    OrderLine cup = OrderLine.newBuilder().setToken("2").setItem("cup").build();
    OrderLine pot = OrderLine.newBuilder().setToken("3").setItem("pot").build();
    try (PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(pool).build();
        IdempotentWork lines = IdempotentWork.builder(store, LINE).build();
        Shop shop = Shop.open(pool, new ManyKeysInOneCall(lines))) {
      OrderServiceGrpc.OrderServiceBlockingStub stub =
          OrderServiceGrpc.newBlockingStub(shop.channel());
      ImportOrdersRequest two =
          ImportOrdersRequest.newBuilder().addLines(tea).addLines(cup).build();
      return List.of(
          stub.importOrders(two), stub.importOrders(two.toBuilder().addLines(pot).build()));
    }
  }
}
