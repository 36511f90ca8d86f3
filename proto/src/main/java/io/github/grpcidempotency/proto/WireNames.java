package io.github.grpcidempotency.proto;

/**
 * The names of the wire contract, as text: what servers and clients in Java agree on, and what a
 * client in another language spells out.
 */
public final class WireNames {
  /** Request header: the client's key, unless both sides are set to another name. */
  public static final String KEY = "idempotency-key";

  /**
   * Request header: {@code true} if the call repeats an earlier one. Only a hint: the server then
   * looks for a recorded answer first.
   */
  public static final String RETRY = "idempotency-retry";

  /**
   * Request header: {@code true} if the call may only run protected. A procedure that would run it
   * without protection refuses it instead.
   */
  public static final String REQUIRED = "idempotency-required";

  /** Trailer: {@code processing}, {@code completed} or {@code failed}. */
  public static final String STATUS = "idempotency-status";

  /** Trailer: {@code true} on replays, absent otherwise. */
  public static final String REPLAYED = "idempotency-replayed";

  /** Trailer: the id of the operation's record, a UUID. */
  public static final String OPERATION = "idempotency-operation";

  /** Trailer: until when retries are answered, an RFC 3339 instant. */
  public static final String EXPIRES = "idempotency-expires";

  /** Trailer: {@code true} on replays whose response was made again from its resource. */
  public static final String RECONSTRUCTED = "idempotency-reconstructed";

  /** Trailer: on replays, the response fields that were never recorded, joined by commas. */
  public static final String OMITTED = "idempotency-omitted";

  /**
   * Trailer on errors: when to try again, in milliseconds; negative for never (gRFC A6). It is
   * gRPC's own, and its retries obey it.
   */
  public static final String PUSHBACK = "grpc-retry-pushback-ms";

  /** The domain of every {@code google.rpc.ErrorInfo} of the library's. */
  public static final String ERROR_DOMAIN = "grpc-idempotency";

  /** Reason of an error: the key is malformed, empty, or given twice. */
  public static final String KEY_INVALID = "IDEMPOTENCY_KEY_INVALID";

  /** Reason of an error: the method requires a key and the call has none. */
  public static final String KEY_REQUIRED = "IDEMPOTENCY_KEY_REQUIRED";

  /** Reason of an error: the method takes no key, and the call has one. */
  public static final String KEY_PROHIBITED = "IDEMPOTENCY_KEY_PROHIBITED";

  /** Reason of an error: nobody has said, or proved, whose key it is. */
  public static final String CALLER_REQUIRED = "IDEMPOTENCY_CALLER_REQUIRED";

  /** Reason of an error: an answer is recorded, and this caller may not have it (any more). */
  public static final String REPLAY_DENIED = "IDEMPOTENCY_REPLAY_DENIED";

  /** Reason of an error: an answer is recorded, and cannot be read. */
  public static final String RECORD_UNREADABLE = "IDEMPOTENCY_RECORD_UNREADABLE";

  /** Reason of an error: the call was answered, and its answer was too large to be recorded. */
  public static final String ANSWER_TOO_LARGE = "IDEMPOTENCY_ANSWER_TOO_LARGE";

  /** Reason of an error: the key was used for another request or another method. */
  public static final String KEY_REUSED = "IDEMPOTENCY_KEY_REUSED";

  /**
   * Reason of an error: the call was answered, and what its answer is made of is gone; or the
   * handler of a delete has not found what existed once.
   */
  public static final String RESOURCE_GONE = "IDEMPOTENCY_RESOURCE_GONE";

  /** Reason of an error: no call with this key is known. */
  public static final String KEY_UNKNOWN = "IDEMPOTENCY_KEY_UNKNOWN";

  /** Reason of an error: no operation of this name is known. */
  public static final String OPERATION_UNKNOWN = "IDEMPOTENCY_OPERATION_UNKNOWN";

  /** Reason of an error: the operation is not done, and cannot be deleted. */
  public static final String OPERATION_UNFINISHED = "IDEMPOTENCY_OPERATION_UNFINISHED";

  /** Reason of an error: the first call with this key is still running. */
  public static final String IN_PROGRESS = "IDEMPOTENCY_IN_PROGRESS";

  /** Reason of an error: the first call ended, and nobody knows yet whether its effect happened. */
  public static final String OUTCOME_UNKNOWN = "IDEMPOTENCY_OUTCOME_UNKNOWN";

  /** Reason of an error: the store cannot do its part, and the call may not run without it. */
  public static final String STORE_UNAVAILABLE = "IDEMPOTENCY_STORE_UNAVAILABLE";

  /** Reason of an error: the server stops before it can answer; another server can. */
  public static final String SHUTTING_DOWN = "IDEMPOTENCY_SHUTTING_DOWN";

  private WireNames() {}
}
