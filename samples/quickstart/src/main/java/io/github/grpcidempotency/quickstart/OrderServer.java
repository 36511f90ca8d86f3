package io.github.grpcidempotency.quickstart;

import static io.github.grpcidempotency.resource.IdempotencyStatus.*;

import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.postgres.*;
import io.github.grpcidempotency.procedure.*;
import io.github.grpcidempotency.quickstart.orders.v1.OrderServiceGrpc;
import io.github.grpcidempotency.resource.*;
import io.grpc.*;
import java.io.IOException;
import java.time.Duration;
import java.util.*;
import javax.sql.DataSource;

/** A server whose methods are safe to retry. */
record OrderServer(Server server, IdempotencyInterceptor idempotency, List<Runnable> closing) {
  static final Metadata.Key<String> SUBJECT_HEADER =
      Metadata.Key.of("subject", Metadata.ASCII_STRING_MARSHALLER);
  private static final Context.Key<String> SUBJECT = Context.key("subject");

  private static final OutboxQuery ORDER_OUTBOX =
      OutboxQuery.of(
              "SELECT status FROM shop.outbox WHERE order_id = :resource_id ORDER BY id DESC LIMIT 1")
          .map(PROCESSING, "pending")
          .map(COMPLETED, "done")
          .map(FAILED, "failed")
          .build();

  private static final Procedures PROCEDURES =
      Procedures.builder()
          .addAnnotated(OrderServiceGrpc.getServiceDescriptor())
          .status("order", ORDER_OUTBOX)
          .build();

  static OrderServer start(DataSource pool, ServerInterceptor authentication) throws IOException {
    PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(pool).build();
    IdempotencyInterceptor idempotency =
        IdempotencyInterceptor.builder(
                PROCEDURES, () -> Optional.ofNullable(SUBJECT.get()).map(Caller::ofSubject))
            .store(store)
            .build(); // checks schema, roles and descriptors, and lists all that is wrong
    ExpirySweeper sweeper = ExpirySweeper.builder(store).build().start();
    Server server =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .addService(new OrderService(pool))
            .intercept(idempotency)
            .intercept(authentication) // added last, so called first
            .build()
            .start();
    return new OrderServer(server, idempotency, List.of(sweeper::close, store::close));
  }

  /** Stands for authentication and accepts everybody: yours verifies a token. */
  static <Q, A> ServerCall.Listener<Q> authenticate(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    Context context = Context.current().withValue(SUBJECT, headers.get(SUBJECT_HEADER));
    return Contexts.interceptCall(context, call, headers, next);
  }

  void stop() {
    idempotency.drain(Duration.ofSeconds(5), server);
    idempotency.close();
    closing.forEach(Runnable::run);
  }
}
