package io.github.grpcidempotency.host.quarkus;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.host.quarkus.shop.v1.Shipment;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import jakarta.transaction.Transactional;
import java.util.UUID;

/** Saves shipments. */
@ApplicationScoped
class Shipments {
  @Inject EntityManager entities;

  @Transactional
  Shipment save(UUID orderId, String tracking) {
    UUID id = UuidCreator.getTimeOrderedEpoch();
    entities.persist(new ShipmentEntity(id, orderId, tracking));
    return Shipment.newBuilder().setId(id.toString()).setTracking(tracking).build();
  }
}
