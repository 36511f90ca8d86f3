package io.github.grpcidempotency.host.quarkus;

import io.agroal.api.AgroalDataSource;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.jta.JtaTransactions;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.postgres.ExpirySweeper;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Procedures;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.quarkus.agroal.DataSource;
import io.quarkus.grpc.GlobalInterceptor;
import io.quarkus.runtime.BlockingOperationControl;
import io.quarkus.security.identity.SecurityIdentity;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.Initialized;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.spi.Prioritized;
import jakarta.inject.Singleton;
import jakarta.transaction.TransactionManager;
import jakarta.transaction.TransactionScoped;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.util.Optional;

/** Makes the described methods of all services safe to retry. */
@Singleton
@GlobalInterceptor
class Idempotency implements ServerInterceptor, Prioritized {
  private final Procedures procedures;
  private final IdempotencyInterceptor interceptor;
  private final PostgresIdempotencyStore store;
  private final ExpirySweeper sweeper;

  Idempotency(
      Procedures procedures,
      Migration migration,
      AgroalDataSource pool,
      @DataSource("idempotency") AgroalDataSource connections,
      TransactionManager transactions,
      TransactionSynchronizationRegistry synchronizations,
      SecurityIdentity identity) {
    migration.run();
    this.procedures = procedures;
    this.store =
        PostgresIdempotencyStore.builder(pool)
            .connections(connections)
            .hostTransactions(JtaTransactions.of(transactions, synchronizations, pool))
            .build();
    this.interceptor =
        IdempotencyInterceptor.builder(procedures, () -> caller(identity)).store(store).build();
    this.sweeper = ExpirySweeper.builder(store).build().start();
  }

  private static Optional<Caller> caller(SecurityIdentity identity) {
    return identity.isAnonymous()
        ? Optional.empty()
        : Optional.of(Caller.ofSubject(identity.getPrincipal().getName()));
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    String method = call.getMethodDescriptor().getFullMethodName();
    if (!BlockingOperationControl.isBlockingAllowed() && procedures.find(method).isPresent()) {
      call.close(
          Status.INTERNAL.withDescription(method + " is idempotent: mark its handler @Blocking"),
          new Metadata());
      return new ServerCall.Listener<>() {};
    }
    return interceptor.interceptCall(call, headers, next);
  }

  /**
   * The lowest priority is called last: after authentication, and after the call has left the event
   * loop.
   */
  @Override
  public int getPriority() {
    return 0;
  }

  /**
   * Reports {@code REQUIRES_NEW} to the interceptor. Static, because the bean begins transactions
   * when it is created.
   */
  static void transactionBegan(@Observes @Initialized(TransactionScoped.class) Object event) {
    JtaTransactions.transactionBegan();
  }

  @PreDestroy
  void close() {
    interceptor.close();
    sweeper.close();
    store.close();
  }
}
