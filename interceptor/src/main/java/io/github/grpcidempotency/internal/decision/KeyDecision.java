package io.github.grpcidempotency.internal.decision;

import io.github.grpcidempotency.key.IdempotencyKey;

/** What a call's key, or the lack of one, makes of it. */
public sealed interface KeyDecision {

  /**
   * Acts on each kind of decision, so that a new kind does not compile until it has been thought
   * of.
   *
   * @param <T> what acting returns
   */
  interface Visitor<T> {
    T keyed(IdempotencyKey key, String keyName);

    T unkeyed();

    T noCaller();

    T refuse(Refusal refusal, String keyName);
  }

  /** Has a visitor act on this decision. */
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

  /** The call carries no key: it is none of ours. */
  record Unkeyed() implements KeyDecision {
    @Override
    public <T> T accept(Visitor<T> visitor) {
      return visitor.unkeyed();
    }
  }

  /** The call carries a key that could be anybody's, and runs as if it had none. */
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
