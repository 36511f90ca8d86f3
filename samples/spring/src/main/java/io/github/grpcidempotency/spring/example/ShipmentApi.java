package io.github.grpcidempotency.spring.example;

import io.github.grpcidempotency.spring.example.shop.v1.CreateShipmentRequest;
import io.github.grpcidempotency.spring.example.shop.v1.Shipment;
import io.github.grpcidempotency.spring.example.shop.v1.ShipmentServiceGrpc;
import io.grpc.stub.StreamObserver;
import java.util.UUID;
import org.springframework.grpc.server.service.GrpcService;

/** Transactional. */
@GrpcService
class ShipmentApi extends ShipmentServiceGrpc.ShipmentServiceImplBase {
  private final Shipments shipments;

  ShipmentApi(Shipments shipments) {
    this.shipments = shipments;
  }

  @Override
  public void createShipment(CreateShipmentRequest request, StreamObserver<Shipment> observer) {
    UUID id = shipments.ship(UUID.fromString(request.getOrderId()));
    observer.onNext(
        Shipment.newBuilder().setId(id.toString()).setOrderId(request.getOrderId()).build());
    observer.onCompleted();
  }
}
