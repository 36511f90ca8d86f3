package io.github.grpcidempotency.features;

import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.client.RetryingCaller;
import io.github.grpcidempotency.features.shop.v1.Charge;
import io.github.grpcidempotency.features.shop.v1.ChargeCardRequest;
import io.github.grpcidempotency.features.shop.v1.PaymentServiceGrpc;
import io.github.grpcidempotency.grpc.CurrentOperation;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import javax.sql.DataSource;

/** The handler calls another service, with the same key in every run of the handler. */
final class OutboundKey extends PaymentServiceGrpc.PaymentServiceImplBase {
  /** A payment provider that accepts idempotency keys. */
  interface Provider {
    /** Returns the id of the charge. */
    String charge(long cents, String idempotencyKey) throws IOException;
  }

  private final Provider provider;

  private OutboundKey(Provider provider) {
    this.provider = provider;
  }

  @Override
  public void chargeCard(ChargeCardRequest request, StreamObserver<Charge> observer) {
    try {
      String id = provider.charge(request.getCents(), CurrentOperation.outboundKey("charge"));
      Shop.answer(observer, Charge.newBuilder().setId(id).build());
    } catch (IOException lost) {
      // Frees the client's key. The retry runs this handler again, and sends the same outbound key.
      observer.onError(Status.UNAVAILABLE.withCause(lost).asRuntimeException());
    }
  }

  static Reply<Charge> run(DataSource pool, Provider provider) throws IOException {
    try (Shop shop = Shop.open(pool, new OutboundKey(provider))) {
      return RetryingCaller.builder()
          .build()
          .call(
              Intent.create().on(PaymentServiceGrpc.newBlockingStub(shop.channel())),
              PaymentServiceGrpc.getChargeCardMethod(),
              ChargeCardRequest.newBuilder().setCents(995).build());
    }
  }
}
