package io.github.grpcidempotency.hosts.micronaut;

import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.hosts.orders.v1.OrderServiceGrpc;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.postgres.ExpirySweeper;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.postgres.spi.HostTransactions;
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
  /** Derives the store's own connections from the pool. */
  @Singleton
  @Bean(preDestroy = "close")
  PostgresIdempotencyStore store(DataSource pool, HostTransactions transactions) {
    return PostgresIdempotencyStore.builder(unwrapped(pool)).hostTransactions(transactions).build();
  }

  /** Checks schema, roles and descriptors, and lists all problems. */
  @Singleton
  @Bean(preDestroy = "close")
  IdempotencyInterceptor idempotency(PostgresIdempotencyStore store) {
    return IdempotencyInterceptor.builder(
            Procedures.builder().addAnnotated(OrderServiceGrpc.getServiceDescriptor()).build(),
            () -> Optional.ofNullable(Authentication.SUBJECT.get()).map(Caller::ofSubject))
        .store(store)
        .build();
  }

  @Context
  @Bean(preDestroy = "close")
  ExpirySweeper sweeper(PostgresIdempotencyStore store) {
    return ExpirySweeper.builder(store).build().start();
  }

  /** Returns the pool itself. Micronaut's data source has connections within transactions only. */
  private static DataSource unwrapped(DataSource pool) {
    return DelegatingDataSource.unwrapDataSource(pool);
  }
}
