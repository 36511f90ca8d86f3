package io.github.grpcidempotency.spring.example;

import java.util.UUID;

/** There is no such order, or it was shipped already. */
class NotToBeShippedException extends RuntimeException {
  NotToBeShippedException(UUID order) {
    super("order " + order + " is not to be shipped");
  }
}
