package io.github.grpcidempotency.host.quarkus;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.UUID;

/** An order. */
@Entity
@Table(schema = "shop", name = "orders")
class OrderEntity {
  @Id private UUID id;

  @Column(nullable = false)
  private String item;

  @SuppressWarnings("NullAway.Init") // for the persistence provider
  OrderEntity() {}

  OrderEntity(UUID id, String item) {
    this.id = id;
    this.item = item;
  }
}
