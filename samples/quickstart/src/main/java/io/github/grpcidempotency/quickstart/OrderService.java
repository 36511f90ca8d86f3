package io.github.grpcidempotency.quickstart;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.postgres.*;
import io.github.grpcidempotency.quickstart.orders.v1.*;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.sql.*;
import java.util.UUID;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;

/** The three ways to run a handler: the first with Jdbi, the second with JDBC. */
final class OrderService extends OrderServiceGrpc.OrderServiceImplBase {
  private final DataSource pool;

  OrderService(DataSource pool) {
    this.pool = pool;
  }

  /** Transactional: order, outbox entry and recorded answer are one commit. */
  @Override
  public void createOrder(CreateOrderRequest request, StreamObserver<Order> observer) {
    Handle database = ClaimJdbi.handle(); // begun and committed for you
    UUID id = UuidCreator.getTimeOrderedEpoch();
    database.execute("INSERT INTO shop.orders (id, item) VALUES (?, ?)", id, request.getItem());
    database.execute("INSERT INTO shop.outbox (order_id) VALUES (?)", id);
    observer.onNext(Order.newBuilder().setId(id.toString()).setItem(request.getItem()).build());
    observer.onCompleted();
  }

  /** Reserved and joined: the slow work comes first, then shipment and answer are one commit. */
  @Override
  public void createShipment(CreateShipmentRequest request, StreamObserver<Shipment> observer) {
    String tracking = "track-" + UUID.randomUUID(); // stands for a slow call to a carrier
    UUID id = UuidCreator.getTimeOrderedEpoch();
    UUID orderId = UUID.fromString(request.getOrderId());
    Shipment shipment = Shipment.newBuilder().setId(id.toString()).setTracking(tracking).build();
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      execute(connection, "INSERT INTO shop.shipments VALUES (?, ?, ?)", id, orderId, tracking);
      TransactionalCompletion.completeAndCommit(connection, shipment);
      answer(observer, shipment);
    } catch (SQLException failure) {
      observer.onError(Status.INTERNAL.withCause(failure).asRuntimeException());
    }
  }

  /** Reserved: the handler contains no code for idempotency. */
  @Override
  public void sendReceipt(SendReceiptRequest request, StreamObserver<Receipt> observer) {
    String messageId = "receipt-" + UUID.randomUUID(); // stands for sending a mail
    answer(observer, Receipt.newBuilder().setMessageId(messageId).build());
  }

  private static <T> void answer(StreamObserver<T> observer, T response) {
    observer.onNext(response);
    observer.onCompleted();
  }

  private static void execute(Connection connection, String sql, Object... values)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) {
        statement.setObject(i + 1, values[i]);
      }
      statement.executeUpdate();
    }
  }
}
