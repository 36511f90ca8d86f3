package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.torture.v1.EffectRequest;
import java.util.UUID;

/** What a client wants done, with as many calls as that takes. */
record Operation(Scope scope, Form form, EffectRequest request) {

  /**
   * A key of a user: the scope within which there is one answer.
   *
   * @param key the key that is sent; in a tenant, with the tenant and a colon in front
   */
  record Scope(UUID user, String key) {
    /** Returns the scope of a key in a tenant; the tenant is empty if there is none. */
    static Scope of(UUID user, String tenant, String key) {
      return new Scope(user, tenant.isEmpty() ? key : tenant + ":" + key);
    }

    /** Returns the tenant; empty if there is none. */
    String tenant() {
      return key.substring(0, Math.max(0, key.indexOf(':')));
    }

    /** Returns the key that is sent. */
    String sent() {
      return key.substring(key.indexOf(':') + 1);
    }
  }

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
