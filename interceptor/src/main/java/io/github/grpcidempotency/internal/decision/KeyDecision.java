package io.github.grpcidempotency.internal.decision;

import io.github.grpcidempotency.key.IdempotencyKey;

/** How a call goes on, given its key or the lack of one. */
public sealed interface KeyDecision {

  /**
   * Acts on each kind of decision. A new kind does not compile until every visitor handles it.
   *
   * @param <T> what acting returns
   */
  interface Visitor<T> {
    T keyed(IdempotencyKey key, String keyName);

    T unkeyed();

    T noCaller();

    T refuse(Refusal refusal, String keyName);
  }

  /** Lets a visitor act on this decision. */
  <T> T accept(Visitor<T> visitor);

  /**
   * The call is an operation.
   *
   * @param key its identity
   * @param keyName where the key comes from, as errors name it
   */
  record Keyed(IdempotencyKey key, String keyName) implements KeyDecision {
    @Override
    public <T> T accept(Visitor<T> visitor) {
      return visitor.keyed(key, keyName);
    }
  }

  /** The call passes through: it carries no key, or its handler manages keys itself. */
  record Unkeyed() implements KeyDecision {
    @Override
    public <T> T accept(Visitor<T> visitor) {
      return visitor.unkeyed();
    }
  }

  /** The call carries a key but has no caller, and runs as if it had no key. */
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
   * @param keyName where the key comes from, as the error names it
   */
  record Refuse(Refusal refusal, String keyName) implements KeyDecision {
    @Override
    public <T> T accept(Visitor<T> visitor) {
      return visitor.refuse(refusal, keyName);
    }
  }
}
