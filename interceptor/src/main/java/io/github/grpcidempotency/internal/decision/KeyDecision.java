package io.github.grpcidempotency.internal.decision;

import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.key.IdempotencyKey;

/** How a call continues, with or without a key. */
public sealed interface KeyDecision {

  /** The call is an operation. */
  record Keyed(IdempotencyKey key, String keyName) implements KeyDecision {}

  /**
   * The call passes through: it has no key, a key without a caller, or its handler manages keys
   * itself.
   */
  record Unkeyed() implements KeyDecision {}

  /** Answer with an error. */
  record Refuse(Refusal refusal, String keyName) implements KeyDecision {}

  static KeyDecision refuse(RefusalReason reason, String keyName) {
    return new Refuse(Refusal.of(reason), keyName);
  }
}
