package io.github.grpcidempotency.hosts.micronaut;

import io.github.grpcidempotency.hosts.orders.v1.Order;
import io.github.grpcidempotency.hosts.orders.v1.Shipment;
import io.micronaut.transaction.annotation.Transactional;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;

/** Writes in Micronaut's transactions. */
@Singleton
class Orders {
  private final Connection connection;

  /** Uses the connection of the current transaction. */
  Orders(Connection connection) {
    this.connection = connection;
  }

  @Transactional
  void insert(Order order) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO shop.orders (id, item) VALUES (?, ?)")) {
      insert.setObject(1, UUID.fromString(order.getId()));
      insert.setString(2, order.getItem());
      insert.executeUpdate();
    }
  }

  @Transactional
  void insert(Shipment shipment, UUID orderId) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO shop.shipments VALUES (?, ?, ?)")) {
      insert.setObject(1, UUID.fromString(shipment.getId()));
      insert.setObject(2, orderId);
      insert.setString(3, shipment.getTracking());
      insert.executeUpdate();
    }
  }
}
