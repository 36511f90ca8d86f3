package io.github.grpcidempotency.spring.example;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.grpc.CurrentOperation;
import io.github.grpcidempotency.spring.example.shop.v1.CreatePaymentRequest;
import io.github.grpcidempotency.spring.example.shop.v1.Payment;
import io.github.grpcidempotency.spring.example.shop.v1.PaymentServiceGrpc;
import io.github.grpcidempotency.spring.example.shop.v1.Receipt;
import io.github.grpcidempotency.spring.example.shop.v1.SendReceiptRequest;
import io.grpc.stub.StreamObserver;
import org.springframework.grpc.server.service.GrpcService;

/** Reserved: the slow, external work comes first. */
@GrpcService
class PaymentApi extends PaymentServiceGrpc.PaymentServiceImplBase {
  private final CardCompany cards;
  private final Payments payments;

  PaymentApi(CardCompany cards, Payments payments) {
    this.cards = cards;
    this.payments = payments;
  }

  /**
   * May run twice if its server crashes. Both runs charge with the same key, so the card is charged
   * once.
   */
  @Override
  public void createPayment(CreatePaymentRequest request, StreamObserver<Payment> observer) {
    String charge =
        cards.charge(request.getCard(), request.getCents(), CurrentOperation.outboundKey("charge"));
    Payment payment =
        Payment.newBuilder()
            .setId(UuidCreator.getTimeOrderedEpoch().toString())
            .setOrderId(request.getOrderId())
            .setCharge(charge)
            .build();
    payments.book(payment, request.getCents());
    observer.onNext(payment);
    observer.onCompleted();
  }

  @Override
  public void sendReceipt(SendReceiptRequest request, StreamObserver<Receipt> observer) {
    String number = cards.receipt(request.getOrderId(), CurrentOperation.outboundKey("receipt"));
    observer.onNext(Receipt.newBuilder().setNumber(number).build());
    observer.onCompleted();
  }
}
