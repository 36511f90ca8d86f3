package io.github.grpcidempotency.spring.example;

import static io.github.grpcidempotency.resource.IdempotencyStatus.COMPLETED;
import static io.github.grpcidempotency.resource.IdempotencyStatus.FAILED;
import static io.github.grpcidempotency.resource.IdempotencyStatus.PROCESSING;

import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.resource.StatusSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** The application. Only the starter registers the library. */
@SpringBootApplication
public class ShopApplication {
  public static void main(String... args) {
    SpringApplication.run(ShopApplication.class, args);
  }

  /** Returns the status of an order's asynchronous work. The bean's name is the resource type. */
  @Bean
  StatusSource order() {
    return OutboxQuery.of(
            "SELECT status FROM shop.outbox WHERE order_id = :resource_id ORDER BY id DESC LIMIT 1")
        .map(PROCESSING, "pending")
        .map(COMPLETED, "done")
        .map(FAILED, "failed")
        .build();
  }
}
