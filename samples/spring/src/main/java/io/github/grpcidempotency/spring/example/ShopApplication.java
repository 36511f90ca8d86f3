package io.github.grpcidempotency.spring.example;

import static io.github.grpcidempotency.procedure.IdempotencyStatus.COMPLETED;
import static io.github.grpcidempotency.procedure.IdempotencyStatus.FAILED;
import static io.github.grpcidempotency.procedure.IdempotencyStatus.PROCESSING;

import io.github.grpcidempotency.postgres.OutboxStatusResolver;
import io.github.grpcidempotency.procedure.StatusResolver;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** The application. Nothing in it registers the library but its starter. */
@SpringBootApplication
public class ShopApplication {
  public static void main(String... args) {
    SpringApplication.run(ShopApplication.class, args);
  }

  /** How far the work behind an order has come. The bean's name is that of the resource type. */
  @Bean
  StatusResolver order() {
    return OutboxStatusResolver.query(
            "SELECT status FROM shop.outbox WHERE order_id = :resource_id ORDER BY id DESC LIMIT 1")
        .map(PROCESSING, "pending")
        .map(COMPLETED, "done")
        .map(FAILED, "failed")
        .build();
  }
}
