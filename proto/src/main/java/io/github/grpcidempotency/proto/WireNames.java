package io.github.grpcidempotency.proto;

/**
 * The names in the wire contract, as text, for servers and clients in Java. A client in another
 * language defines the same names.
 */
public final class WireNames {
  /**
   * Request header: the client's key. Server and client can be configured to use another header.
   */
  public static final String KEY = "idempotency-key";

  /**
   * Request header: {@code true} if the call repeats an earlier one. This is a hint: the server
   * then looks for a recorded answer first.
   */
  public static final String RETRY = "idempotency-retry";

  /**
   * Request header: {@code true} if the call must not run without protection. A server that cannot
   * protect the call refuses it.
   */
  public static final String REQUIRED = "idempotency-required";

  /** Trailer: {@code processing}, {@code completed} or {@code failed}. */
  public static final String STATUS = "idempotency-status";

  /** Trailer: {@code true} on replays, absent otherwise. */
  public static final String REPLAYED = "idempotency-replayed";

  /** Trailer: the id of the operation's record, a UUID. */
  public static final String OPERATION = "idempotency-operation";

  /**
   * Trailer: when the record expires, an RFC 3339 instant. Until then, retries get the recorded
   * answer.
   */
  public static final String EXPIRES = "idempotency-expires";

  /** Trailer: {@code true} on replays whose response was rebuilt from its resource. */
  public static final String RECONSTRUCTED = "idempotency-reconstructed";

  /** Trailer: on replays, the response fields that were not recorded, joined by commas. */
  public static final String OMITTED = "idempotency-omitted";

  /**
   * Trailer on errors: when to retry, in milliseconds; a negative value means never. gRPC defines
   * this trailer (gRFC A6), and its built-in retries obey it.
   */
  public static final String PUSHBACK = "grpc-retry-pushback-ms";

  /** The domain of every {@code google.rpc.ErrorInfo} that the library sends. */
  public static final String ERROR_DOMAIN = "grpc-idempotency";

  /** Reason of an error: the key is malformed or empty, or the call has more than one. */
  public static final String KEY_INVALID = "IDEMPOTENCY_KEY_INVALID";

  /** Reason of an error: the method requires a key and the call has none. */
  public static final String KEY_REQUIRED = "IDEMPOTENCY_KEY_REQUIRED";

  /** Reason of an error: the method prohibits keys, and the call has one. */
  public static final String KEY_PROHIBITED = "IDEMPOTENCY_KEY_PROHIBITED";

  /**
   * Reason of an error: the method requires a key, and the caller is unknown, or cannot prove that
   * the key is theirs.
   */
  public static final String CALLER_REQUIRED = "IDEMPOTENCY_CALLER_REQUIRED";

  /** Reason of an error: an answer is recorded, but this caller is not allowed to get it. */
  public static final String REPLAY_DENIED = "IDEMPOTENCY_REPLAY_DENIED";

  /** Reason of an error: an answer is recorded, but the server cannot read it. */
  public static final String RECORD_UNREADABLE = "IDEMPOTENCY_RECORD_UNREADABLE";

  /** Reason of an error: the call was answered, but its answer was too large to be recorded. */
  public static final String ANSWER_TOO_LARGE = "IDEMPOTENCY_ANSWER_TOO_LARGE";

  /** Reason of an error: the key was used for another request or another method. */
  public static final String KEY_REUSED = "IDEMPOTENCY_KEY_REUSED";

  /**
   * Reason of an error: the resource does not exist any more. Either the recorded answer cannot be
   * rebuilt from its resource, or the handler of a delete answers that its resource once existed.
   */
  public static final String RESOURCE_GONE = "IDEMPOTENCY_RESOURCE_GONE";

  /** Reason of an error: no call with this key is known. */
  public static final String KEY_UNKNOWN = "IDEMPOTENCY_KEY_UNKNOWN";

  /** Reason of an error: no operation with this name is known. */
  public static final String OPERATION_UNKNOWN = "IDEMPOTENCY_OPERATION_UNKNOWN";

  /** Reason of an error: the operation cannot be deleted, because it is not done. */
  public static final String OPERATION_UNFINISHED = "IDEMPOTENCY_OPERATION_UNFINISHED";

  /** Reason of an error: the first call with this key is still running. */
  public static final String IN_PROGRESS = "IDEMPOTENCY_IN_PROGRESS";

  /**
   * Reason of an error: the first call with this key has ended, but it is unknown whether its
   * effect happened.
   */
  public static final String OUTCOME_UNKNOWN = "IDEMPOTENCY_OUTCOME_UNKNOWN";

  /** Reason of an error: the store failed, and the call must not run without it. */
  public static final String STORE_UNAVAILABLE = "IDEMPOTENCY_STORE_UNAVAILABLE";

  /** Reason of an error: the server is shutting down; another server can answer. */
  public static final String SHUTTING_DOWN = "IDEMPOTENCY_SHUTTING_DOWN";

  private WireNames() {}
}
