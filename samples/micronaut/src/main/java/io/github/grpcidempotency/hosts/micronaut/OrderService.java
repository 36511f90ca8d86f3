package io.github.grpcidempotency.hosts.micronaut;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.hosts.orders.v1.CreateNoteRequest;
import io.github.grpcidempotency.hosts.orders.v1.CreateOrderRequest;
import io.github.grpcidempotency.hosts.orders.v1.CreateShipmentRequest;
import io.github.grpcidempotency.hosts.orders.v1.Note;
import io.github.grpcidempotency.hosts.orders.v1.Order;
import io.github.grpcidempotency.hosts.orders.v1.OrderServiceGrpc;
import io.github.grpcidempotency.hosts.orders.v1.Shipment;
import io.github.grpcidempotency.postgres.ClaimJdbi;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import jakarta.inject.Singleton;
import java.sql.SQLException;
import java.util.UUID;

@Singleton
final class OrderService extends OrderServiceGrpc.OrderServiceImplBase {
  private final Orders orders;

  OrderService(Orders orders) {
    this.orders = orders;
  }

  /** Transactional: the repository joins the claim. */
  @Override
  public void createOrder(CreateOrderRequest request, StreamObserver<Order> observer) {
    String id = UuidCreator.getTimeOrderedEpoch().toString();
    Order order = Order.newBuilder().setId(id).setItem(request.getItem()).build();
    try {
      orders.insert(order);
      if (order.getItem().equals("refused after the insert")) {
        throw Status.FAILED_PRECONDITION.asRuntimeException();
      }
      answer(observer, order);
    } catch (SQLException failure) {
      observer.onError(Status.INTERNAL.withCause(failure).asRuntimeException()); // rolls back
    }
  }

  /** Transactional: Jdbi on the same transaction. */
  @Override
  public void createNote(CreateNoteRequest request, StreamObserver<Note> observer) {
    long number =
        ClaimJdbi.handle()
            .createQuery("INSERT INTO shop.notes (note) VALUES (:note) RETURNING number")
            .bind("note", request.getText())
            .mapTo(Long.class)
            .one();
    answer(observer, Note.newBuilder().setNumber(number).build());
  }

  /** Reserved: the slow work comes first. The answer is recorded after the shipment's commit. */
  @Override
  public void createShipment(CreateShipmentRequest request, StreamObserver<Shipment> observer) {
    String tracking = "track-" + UUID.randomUUID(); // stands for a slow call to a carrier
    String id = UuidCreator.getTimeOrderedEpoch().toString();
    Shipment shipment = Shipment.newBuilder().setId(id).setTracking(tracking).build();
    try {
      orders.insert(shipment, UUID.fromString(request.getOrderId()));
      answer(observer, shipment);
    } catch (SQLException failure) {
      observer.onError(Status.INTERNAL.withCause(failure).asRuntimeException());
    }
  }

  private static <T> void answer(StreamObserver<T> observer, T response) {
    observer.onNext(response);
    observer.onCompleted();
  }
}
