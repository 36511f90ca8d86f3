package io.github.grpcidempotency.decision;

import io.github.grpcidempotency.key.IdempotencyKey;

/** What a call's key, or the lack of one, makes of it. */
public sealed interface KeyDecision {
  /**
   * The call is an operation.
   *
   * @param key its identity
   */
  record Keyed(IdempotencyKey key) implements KeyDecision {}

  /** The call is none of ours. */
  record Unkeyed() implements KeyDecision {}

  /**
   * Answer with an error.
   *
   * @param refusal why
   */
  record Refuse(Refusal refusal) implements KeyDecision {}
}
