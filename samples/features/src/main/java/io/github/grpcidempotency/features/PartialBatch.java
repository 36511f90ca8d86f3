package io.github.grpcidempotency.features;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.rpc.Code;
import com.google.rpc.Status;
import io.github.grpcidempotency.features.shop.v1.CreateOrdersRequest;
import io.github.grpcidempotency.features.shop.v1.CreateOrdersResponse;
import io.github.grpcidempotency.features.shop.v1.Order;
import io.github.grpcidempotency.features.shop.v1.OrderLine;
import io.github.grpcidempotency.features.shop.v1.OrderResult;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc.OrderServiceFutureStub;
import io.github.grpcidempotency.postgres.ClaimJdbi;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.work.IdempotentWork;
import io.github.grpcidempotency.work.WorkFailedException;
import io.github.grpcidempotency.work.WorkRefusedException;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Future;
import javax.sql.DataSource;

/** A batch with a key and a result for each line. A line that fails does not stop the others. */
final class PartialBatch extends OrderServiceGrpc.OrderServiceImplBase {
  private static final Procedure LINE =
      Procedure.named("shop.v1.OrderService/CreateOrders/line")
          .execution(Execution.TRANSACTIONAL)
          .attach(Duration.ofSeconds(20)) // a duplicate of a running line waits for its result
          .failures(FailurePolicy.releaseAll().withTerminal(Code.FAILED_PRECONDITION))
          .build();

  private final IdempotentWork work;

  private PartialBatch(IdempotentWork work) {
    this.work = work;
  }

  @Override
  public void createOrders(
      CreateOrdersRequest request, StreamObserver<CreateOrdersResponse> observer) {
    CreateOrdersResponse.Builder response = CreateOrdersResponse.newBuilder();
    request.getLinesList().forEach(line -> response.addResults(create(line)));
    Shop.answer(observer, response.build());
  }

  private OrderResult create(OrderLine line) {
    String token = "batch:" + line.getToken();
    try {
      Order order =
          work.run(LINE, Shop.caller().orElseThrow(), token, line, Order.parser(), () -> add(line))
              .value();
      return OrderResult.newBuilder().setOrder(order).build();
    } catch (WorkFailedException failed) { // if it is recorded, a retry gets it again
      return error(failed.code(), String.valueOf(failed.getMessage()));
    } catch (WorkRefusedException refused) { // the client may send the line again, or never
      Code code = refused.retryAfter().isPresent() ? Code.ABORTED : Code.INVALID_ARGUMENT;
      return error(code, refused.reason().wireName());
    } catch (Exception failed) { // rolled back: the client sends the line again
      return error(Code.UNAVAILABLE, "the line can be sent again");
    }
  }

  private static OrderResult error(Code code, String message) {
    Status error = Status.newBuilder().setCode(code.getNumber()).setMessage(message).build();
    return OrderResult.newBuilder().setError(error).build();
  }

  private static Order add(OrderLine line) throws WorkFailedException {
    if (line.getItem().isEmpty()) {
      throw new WorkFailedException(Code.FAILED_PRECONDITION, "out of stock");
    }
    UUID id = UuidCreator.getTimeOrderedEpoch();
    ClaimJdbi.handle().execute("INSERT INTO shop.orders VALUES (?, ?)", id, line.getItem());
    return Order.newBuilder().setId(id.toString()).setItem(line.getItem()).build();
  }

  /** Sends a batch of three lines, one of which fails, twice at once, and then once more. */
  static List<CreateOrdersResponse> run(DataSource pool) throws Exception {
    CreateOrdersRequest.Builder batch = CreateOrdersRequest.newBuilder();
    batch.addLinesBuilder().setToken("1").setItem("tea");
    batch.addLinesBuilder().setToken("2");
    batch.addLinesBuilder().setToken("3").setItem("pot");
    try (PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(pool).build();
        IdempotentWork lines = IdempotentWork.builder(store, LINE).build();
        Shop shop = Shop.open(pool, new PartialBatch(lines))) {
      OrderServiceFutureStub stub = OrderServiceGrpc.newFutureStub(shop.channel());
      Future<CreateOrdersResponse> first = stub.createOrders(batch.build());
      Future<CreateOrdersResponse> second = stub.createOrders(batch.build());
      return List.of(first.get(), second.get(), stub.createOrders(batch.build()).get());
    }
  }
}
