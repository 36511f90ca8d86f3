package io.github.grpcidempotency.decision;

import io.github.grpcidempotency.key.IdempotencyKey;

/** What a call's key, or the lack of one, makes of it. */
public sealed interface KeyDecision {
  /**
   * The call is an operation.
   *
   * @param key its identity
   * @param keyName where the key comes from, as errors name it
   */
  record Keyed(IdempotencyKey key, String keyName) implements KeyDecision {}

  /** The call carries no key: it is none of ours. */
  record Unkeyed() implements KeyDecision {}

  /** The call carries a key that could be anybody's, and runs as if it had none. */
  record NoCaller() implements KeyDecision {}

  /**
   * Answer with an error.
   *
   * @param refusal why
   * @param keyName where the key comes from, as the error names it
   */
  record Refuse(Refusal refusal, String keyName) implements KeyDecision {}
}
