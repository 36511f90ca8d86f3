package io.github.grpcidempotency.features;

import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.event.CallScope;
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
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/** Keeps the MDC of a call, which after a wait runs its handler on another thread. */
final class LogContext implements IdempotencyListener {
  private static final Metadata.Key<String> REQUEST =
      Metadata.Key.of("x-request", Metadata.ASCII_STRING_MARSHALLER);

  private final CountDownLatch untilOneWaits = new CountDownLatch(1);

  @Override
  public CallScope capture() {
    Map<String, String> arrived = MDC.getCopyOfContextMap();
    return action -> {
      Map<String, String> before = MDC.getCopyOfContextMap();
      set(arrived);
      try {
        action.run();
      } finally {
        set(before);
      }
    };
  }

  private static void set(@Nullable Map<String, String> entries) {
    MDC.setContextMap(entries == null ? Map.of() : entries);
  }

  @Override
  public void onEvent(IdempotencyEvent event) {
    if (event.kind() == IdempotencyEvent.Kind.ATTACHED) {
      untilOneWaits.countDown();
    }
  }

  /** Stands for an interceptor of yours that sets the MDC. It runs before the library's. */
  private static final class SetsMdc implements ServerInterceptor {
    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
      String request = headers.get(REQUEST);
      MDC.put("request", request);
      try {
        return new SimpleForwardingServerCallListener<>(next.startCall(call, headers)) {
          @Override
          public void onHalfClose() { // where gRPC runs the handlers of unary methods
            MDC.put("request", request);
            try {
              super.onHalfClose();
            } finally {
              MDC.clear();
            }
          }
        };
      } finally {
        MDC.clear();
      }
    }
  }

  /** The first run fails as soon as a duplicate waits. The duplicate then runs. */
  private final class Handler extends PaymentServiceGrpc.PaymentServiceImplBase {
    private final List<String> runs = new CopyOnWriteArrayList<>();

    @Override
    public void chargeCard(ChargeCardRequest request, StreamObserver<Charge> observer) {
      runs.add(String.valueOf(MDC.get("request")));
      if (runs.size() > 1) {
        Shop.answer(observer, Charge.getDefaultInstance());
        return;
      }
      try {
        untilOneWaits.await();
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
      }
      observer.onError(Status.UNAVAILABLE.asRuntimeException());
    }
  }

  /** Returns the entry of the MDC in the first run, and in that of a duplicate that has waited. */
  static List<String> run(DataSource pool) throws Exception {
    LogContext context = new LogContext();
    Handler handler = context.new Handler();
    Procedure waiting =
        Procedure.annotated(PaymentServiceGrpc.getChargeCardMethod())
            .attach(Duration.ofMinutes(1))
            .build();
    PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(pool).build();
    IdempotencyInterceptor idempotency =
        IdempotencyInterceptor.builder(Procedures.of(waiting), Shop::caller)
            .store(store)
            .listener(context)
            .build();
    try (Shop shop = Shop.open(handler, idempotency, store::close, new SetsMdc())) {
      PaymentServiceFutureStub stub =
          Intent.create().on(PaymentServiceGrpc.newFutureStub(shop.channel()));
      List<CompletableFuture<?>> two = List.of(send(stub, "one"), send(stub, "two"));
      two.forEach(call -> call.exceptionally(failed -> null).join());
    }
    return handler.runs;
  }

  private static CompletableFuture<?> send(PaymentServiceFutureStub stub, String request) {
    Metadata headers = new Metadata();
    headers.put(REQUEST, request);
    return Reply.future(
        stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers)),
        payments -> payments.chargeCard(ChargeCardRequest.getDefaultInstance()));
  }
}
