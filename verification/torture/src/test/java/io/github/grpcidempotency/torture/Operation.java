package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.torture.v1.EffectRequest;
import java.util.UUID;

/** What a client wants done, with as many calls as that takes. */
record Operation(Scope scope, Form form, EffectRequest request) {

  /** A key of a user: the scope within which there is one answer. */
  record Scope(UUID user, String key) {}

  Operation as(Scope other) {
    return new Operation(other, form, request);
  }

  Operation through(Form other) {
    return new Operation(scope, other, request);
  }

  Operation saying(String payload) {
    return new Operation(scope, form, request.toBuilder().setPayload(payload).build());
  }
}
