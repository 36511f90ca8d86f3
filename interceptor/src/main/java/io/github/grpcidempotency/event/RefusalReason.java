package io.github.grpcidempotency.event;

/** Why a call is refused. */
public enum RefusalReason {
  /** The key is malformed, empty or repeated. */
  KEY_INVALID,
  /** The procedure requires a key and the call has none. */
  KEY_REQUIRED,
  /** The procedure is not safe to retry, but the call has a key. */
  KEY_PROHIBITED,
  /**
   * The procedure requires a key, and its caller is unknown or cannot prove that the key is theirs.
   */
  CALLER_REQUIRED,
  /** An answer is recorded, but the guard does not allow the caller to have it. */
  REPLAY_DENIED,
  /**
   * An answer is recorded, but cannot be decrypted, for instance because its encryption key is
   * missing.
   */
  RECORD_UNREADABLE,
  /**
   * The call was answered, and its answer is not recorded: it was too large, or this server cannot
   * rebuild it.
   */
  ANSWER_TOO_LARGE,
  /** The key was used for another request or another procedure. */
  KEY_REUSED,
  /**
   * The answer has to be rebuilt from its resource, but the resource does not exist any more. A
   * handler that deletes a resource may send the same reason with its {@code NOT_FOUND} if the
   * resource once existed; that answer is not a refusal.
   */
  RESOURCE_GONE,
  /** The outcome of a call was requested, but there is no record of a call with this key. */
  KEY_UNKNOWN,
  /** The caller has no operation with this id. */
  OPERATION_UNKNOWN,
  /** The operation cannot be deleted, because it is not done. */
  OPERATION_UNFINISHED,
  /** The first call with this key is still running. */
  IN_PROGRESS,
  /** The first call with this key has ended, and it is unknown whether its effect happened. */
  OUTCOME_UNKNOWN,
  /** The store failed, and the call may not run without it. */
  STORE_UNAVAILABLE,
  /** The server is shutting down while the call was waiting, or before its handler ended. */
  SHUTTING_DOWN;

  /** Returns the name that is sent as {@code ErrorInfo.reason}, such as IDEMPOTENCY_IN_PROGRESS. */
  public String wireName() {
    return "IDEMPOTENCY_" + name();
  }
}
