package io.github.grpcidempotency.event;

/**
 * Why a call is not served, as the wire contract has it; the names travel as {@code
 * ErrorInfo.reason}.
 */
public enum RefusalReason {
  /** The key is malformed, empty, or given twice. */
  IDEMPOTENCY_KEY_INVALID,
  /** The procedure requires a key and the call has none. */
  IDEMPOTENCY_KEY_REQUIRED,
  /** The procedure cannot be retried safely, and the call has a key as if it could. */
  IDEMPOTENCY_KEY_PROHIBITED,
  /** The procedure requires a key, and nobody has said, or not proved, whose key it is. */
  IDEMPOTENCY_CALLER_REQUIRED,
  /** An answer is recorded, and this caller may not have it (any more). */
  IDEMPOTENCY_REPLAY_DENIED,
  /** An answer is recorded, and cannot be read: the key that it is encrypted with is missing. */
  IDEMPOTENCY_RECORD_UNREADABLE,
  /** The key was used for another request or another procedure. */
  IDEMPOTENCY_KEY_REUSED,
  /** The first call with this key is still running. */
  IDEMPOTENCY_IN_PROGRESS,
  /** The first call with this key ended, and nobody knows yet whether its effect happened. */
  IDEMPOTENCY_OUTCOME_UNKNOWN,
  /** The store cannot do its part, and the call may not run without it. */
  IDEMPOTENCY_STORE_UNAVAILABLE
}
