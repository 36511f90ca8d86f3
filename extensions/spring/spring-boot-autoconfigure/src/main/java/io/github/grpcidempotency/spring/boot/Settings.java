package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.postgres.ExpirySweeper;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Procedures;
import java.util.Optional;
import java.util.function.Supplier;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Checks the values of properties with the library's own builders, before anything is created. */
final class Settings {
  private Settings() {}

  /**
   * Checks a value.
   *
   * @throws IllegalArgumentException naming the property, if the builder rejects the value
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
