package io.github.grpcidempotency.host.quarkus;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.host.quarkus.shop.v1.CreateOrderRequest;
import io.github.grpcidempotency.host.quarkus.shop.v1.CreateShipmentRequest;
import io.github.grpcidempotency.host.quarkus.shop.v1.DeliveryTime;
import io.github.grpcidempotency.host.quarkus.shop.v1.GetDeliveryTimeRequest;
import io.github.grpcidempotency.host.quarkus.shop.v1.Order;
import io.github.grpcidempotency.host.quarkus.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.host.quarkus.shop.v1.Shipment;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.quarkus.grpc.GrpcService;
import io.smallrye.common.annotation.Blocking;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import jakarta.transaction.Transactional;
import java.util.UUID;

/** Orders, and their shipments. */
@GrpcService
class OrderService extends OrderServiceGrpc.OrderServiceImplBase {
  @Inject EntityManager entities;
  @Inject Shipments shipments;

  /** Transactional: the persisted order and the recorded answer are one commit. */
  @Override
  @Blocking
  @Transactional
  public void createOrder(CreateOrderRequest request, StreamObserver<Order> observer) {
    UUID id = UuidCreator.getTimeOrderedEpoch();
    entities.persist(new OrderEntity(id, request.getItem()));
    if (request.getItem().isBlank()) {
      throw Status.INVALID_ARGUMENT.withDescription("no item").asRuntimeException(); // rolls back
    }
    answer(observer, Order.newBuilder().setId(id.toString()).setItem(request.getItem()).build());
  }

  /** Reserved: the slow work comes first. The answer is recorded after the shipment's commit. */
  @Override
  @Blocking
  public void createShipment(CreateShipmentRequest request, StreamObserver<Shipment> observer) {
    String tracking = "track-" + UUID.randomUUID(); // stands for a slow call to a carrier
    answer(observer, shipments.save(UUID.fromString(request.getOrderId()), tracking));
  }

  @Override
  public void getDeliveryTime(
      GetDeliveryTimeRequest request, StreamObserver<DeliveryTime> observer) {
    answer(observer, DeliveryTime.newBuilder().setDays(3).build());
  }

  private static <T> void answer(StreamObserver<T> observer, T response) {
    observer.onNext(response);
    observer.onCompleted();
  }
}
