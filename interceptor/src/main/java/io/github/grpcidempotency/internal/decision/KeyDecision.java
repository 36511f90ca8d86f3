package io.github.grpcidempotency.internal.decision;

import io.github.grpcidempotency.key.IdempotencyKey;

/** How a call continues, with or without a key. */
public sealed interface KeyDecision {

  /**
   * Visits a decision. The compiler checks that every visitor handles every kind.
   *
   * @param <T> the result
   */
  interface Visitor<T> {
    T keyed(IdempotencyKey key, String keyName);

    T unkeyed();

    T noCaller();

    T refuse(Refusal refusal, String keyName);
  }

  /** Calls the visitor's method for this kind of decision. */
  <T> T accept(Visitor<T> visitor);

  /**
   * The call is an operation.
   *
   * @param key its identity
   * @param keyName the name of the key's source in error messages
   */
  record Keyed(IdempotencyKey key, String keyName) implements KeyDecision {
    @Override
    public <T> T accept(Visitor<T> visitor) {
      return visitor.keyed(key, keyName);
    }
  }

  /** The call passes through: it has no key, or its handler manages keys itself. */
  record Unkeyed() implements KeyDecision {
    @Override
    public <T> T accept(Visitor<T> visitor) {
      return visitor.unkeyed();
    }
  }

  /** The call has a key but no caller, and runs as if it had no key. */
  record NoCaller() implements KeyDecision {
    @Override
    public <T> T accept(Visitor<T> visitor) {
      return visitor.noCaller();
    }
  }

  /**
   * Answer with an error.
   *
   * @param refusal why
   * @param keyName the name of the key's source in the error message
   */
  record Refuse(Refusal refusal, String keyName) implements KeyDecision {
    @Override
    public <T> T accept(Visitor<T> visitor) {
      return visitor.refuse(refusal, keyName);
    }
  }
}
