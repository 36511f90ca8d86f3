package io.github.grpcidempotency.features;

import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.features.shop.v1.Charge;
import io.github.grpcidempotency.features.shop.v1.ChargeCardRequest;
import io.github.grpcidempotency.features.shop.v1.PaymentServiceGrpc;
import io.github.grpcidempotency.features.shop.v1.PaymentServiceGrpc.PaymentServiceFutureStub;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** Duplicates of a running call wait for its answer. By default they are refused. */
final class WaitingDuplicate extends PaymentServiceGrpc.PaymentServiceImplBase
    implements IdempotencyListener {
  private static final Procedure CHARGE_CARD =
      Procedure.annotated(PaymentServiceGrpc.getChargeCardMethod())
          .attach(Duration.ofMinutes(1))
          .build();

  private final CountDownLatch untilTwoWait = new CountDownLatch(2);

  @Override
  public void onEvent(IdempotencyEvent event) {
    if (event.kind() == IdempotencyEvent.Kind.ATTACHED) {
      untilTwoWait.countDown();
    }
  }

  @Override
  public void chargeCard(ChargeCardRequest request, StreamObserver<Charge> observer) {
    try {
      untilTwoWait.await(); // stands for a slow call
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
    Shop.answer(observer, Charge.newBuilder().setId("charge-" + UUID.randomUUID()).build());
  }

  static List<Reply<Charge>> run(DataSource pool) throws IOException {
    WaitingDuplicate handler = new WaitingDuplicate();
    PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(pool).build();
    IdempotencyInterceptor idempotency =
        IdempotencyInterceptor.builder(Procedures.of(CHARGE_CARD), Shop::caller)
            .store(store)
            .listener(handler)
            .build();
    try (Shop shop = Shop.open(handler, idempotency, store::close)) {
      PaymentServiceFutureStub stub =
          Intent.create().on(PaymentServiceGrpc.newFutureStub(shop.channel()));
      ChargeCardRequest request = ChargeCardRequest.newBuilder().setCents(995).build();
      List<CompletableFuture<Reply<Charge>>> three =
          Stream.generate(() -> Reply.future(stub, payments -> payments.chargeCard(request)))
              .limit(3)
              .toList();
      return three.stream().map(CompletableFuture::join).toList();
    }
  }
}
