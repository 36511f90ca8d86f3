package io.github.grpcidempotency.features;

import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.features.shop.v1.CreateShipmentRequest;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.features.shop.v1.Shipment;
import io.github.grpcidempotency.postgres.TransactionalCompletion;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/** The handler first does slow work, then commits its effect together with the recorded answer. */
final class JoinedHandler extends OrderServiceGrpc.OrderServiceImplBase {
  private final DataSource pool;

  private JoinedHandler(DataSource pool) {
    this.pool = pool;
  }

  @Override
  public void createShipment(CreateShipmentRequest request, StreamObserver<Shipment> observer) {
    String tracking = "track-" + UUID.randomUUID(); // stands for a slow call to a carrier
    Shipment shipment = Shipment.newBuilder().setTracking(tracking).build();
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      try (PreparedStatement insert =
          connection.prepareStatement("INSERT INTO shop.shipments VALUES (?, ?)")) {
        insert.setString(1, tracking);
        insert.setString(2, request.getItem());
        insert.executeUpdate();
      }
      // Throws an exception if another server has taken over this call.
      TransactionalCompletion.completeAndCommit(connection, shipment);
      Shop.answer(observer, shipment);
    } catch (SQLException failure) {
      observer.onError(Status.INTERNAL.withCause(failure).asRuntimeException());
    }
  }

  static List<Reply<Shipment>> run(DataSource pool) throws IOException {
    try (Shop shop = Shop.open(pool, new JoinedHandler(pool))) {
      OrderServiceBlockingStub stub = OrderServiceGrpc.newBlockingStub(shop.channel());
      Intent intent = Intent.create();
      CreateShipmentRequest book = CreateShipmentRequest.newBuilder().setItem("book").build();
      return List.of(
          Reply.blocking(intent.on(stub), orders -> orders.createShipment(book)),
          Reply.blocking(intent.on(stub), orders -> orders.createShipment(book)));
    }
  }
}
