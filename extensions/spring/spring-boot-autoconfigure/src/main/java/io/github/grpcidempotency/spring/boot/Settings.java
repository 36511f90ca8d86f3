package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.postgres.ExpirySweeper;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Procedures;
import java.util.Optional;
import java.util.function.Supplier;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Lets the library's own builders check a property's value before anything is built with it. */
final class Settings {
  private Settings() {}

  /**
   * Tries a value.
   *
   * @throws IllegalArgumentException naming the property, if the builder refuses the value
   */
  static void check(String property, Supplier<?> attempt) {
    try {
      Object unused = attempt.get();
    } catch (IllegalArgumentException senseless) {
      throw new IllegalArgumentException(
          "%s.%s: %s".formatted(IdempotencyProperties.PREFIX, property, senseless.getMessage()),
          senseless);
    }
  }

  static PostgresIdempotencyStore.Builder store() {
    return PostgresIdempotencyStore.builder(new DriverManagerDataSource());
  }

  static ExpirySweeper.Builder sweeper() {
    return ExpirySweeper.builder(new DriverManagerDataSource());
  }

  static IdempotencyInterceptor.Builder interceptor() {
    return IdempotencyInterceptor.builder(Procedures.of(), Optional::empty);
  }
}
