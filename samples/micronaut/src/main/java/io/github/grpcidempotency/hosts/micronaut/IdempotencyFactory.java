package io.github.grpcidempotency.hosts.micronaut;

import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.hosts.orders.v1.OrderServiceGrpc;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.postgres.ExpirySweeper;
import io.github.grpcidempotency.postgres.HostTransactions;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Procedures;
import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Context;
import io.micronaut.context.annotation.Factory;
import io.micronaut.data.connection.jdbc.advice.DelegatingDataSource;
import jakarta.inject.Singleton;
import java.util.Optional;
import javax.sql.DataSource;

@Factory
final class IdempotencyFactory {
  /** Checks schema, roles and descriptors, and lists all problems. */
  @Singleton
  @Bean(preDestroy = "close")
  IdempotencyInterceptor idempotency(DataSource pool, HostTransactions transactions) {
    return IdempotencyInterceptor.builder(
            Procedures.builder().addAnnotated(OrderServiceGrpc.getServiceDescriptor()).build(),
            () -> Optional.ofNullable(Authentication.SUBJECT.get()).map(Caller::ofSubject))
        .store(PostgresIdempotencyStore.builder(own(pool)).hostTransactions(transactions).build())
        .build();
  }

  @Context
  @Bean(preDestroy = "close")
  ExpirySweeper sweeper(DataSource pool) {
    return ExpirySweeper.builder(own(pool)).build().start();
  }

  /**
   * Returns the pool itself. Micronaut's data source has connections only within its transactions;
   * the store needs others.
   */
  private static DataSource own(DataSource pool) {
    return DelegatingDataSource.unwrapDataSource(pool);
  }
}
