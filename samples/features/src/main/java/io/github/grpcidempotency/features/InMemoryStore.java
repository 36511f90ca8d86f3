package io.github.grpcidempotency.features;

import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.features.shop.v1.Charge;
import io.github.grpcidempotency.features.shop.v1.ChargeCardRequest;
import io.github.grpcidempotency.features.shop.v1.PaymentServiceGrpc;
import io.github.grpcidempotency.features.shop.v1.PaymentServiceGrpc.PaymentServiceBlockingStub;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/** A test of a reserved handler without a database. The test advances the clock of the store. */
final class InMemoryStore extends PaymentServiceGrpc.PaymentServiceImplBase {
  @Override
  public void chargeCard(ChargeCardRequest request, StreamObserver<Charge> observer) {
    Shop.answer(observer, Charge.newBuilder().setId("charge-" + UUID.randomUUID()).build());
  }

  static List<Reply<Charge>> run() throws IOException {
    InMemoryIdempotencyStore store = new InMemoryIdempotencyStore();
    Procedures procedures =
        Procedures.builder().addAnnotated(PaymentServiceGrpc.getServiceDescriptor()).build();
    IdempotencyInterceptor idempotency =
        IdempotencyInterceptor.builder(procedures, Shop::caller).store(store).build();
    try (Shop shop = Shop.open(new InMemoryStore(), idempotency, () -> {})) {
      PaymentServiceBlockingStub stub =
          Intent.create().on(PaymentServiceGrpc.newBlockingStub(shop.channel()));
      ChargeCardRequest request = ChargeCardRequest.newBuilder().setCents(995).build();
      Reply<Charge> first = Reply.blocking(stub, payments -> payments.chargeCard(request));
      Reply<Charge> retry = Reply.blocking(stub, payments -> payments.chargeCard(request));
      store.advance(Duration.ofHours(25)); // the record expires after 24 hours
      Reply<Charge> late = Reply.blocking(stub, payments -> payments.chargeCard(request));
      return List.of(first, retry, late);
    }
  }
}
