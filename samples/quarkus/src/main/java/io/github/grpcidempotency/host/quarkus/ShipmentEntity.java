package io.github.grpcidempotency.host.quarkus;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.UUID;

/** A shipment. */
@Entity
@Table(schema = "shop", name = "shipments")
class ShipmentEntity {
  @Id private UUID id;

  @Column(name = "order_id", nullable = false)
  private UUID orderId;

  @Column(nullable = false)
  private String tracking;

  @SuppressWarnings("NullAway.Init") // for the persistence provider
  ShipmentEntity() {}

  ShipmentEntity(UUID id, UUID orderId, String tracking) {
    this.id = id;
    this.orderId = orderId;
    this.tracking = tracking;
  }
}
