package io.github.grpcidempotency.example.service.outbox;

import java.io.Serial;

/** The authorization service would not take a tuple. */
final class TupleRefused extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  TupleRefused(String message) {
    super(message);
  }
}
