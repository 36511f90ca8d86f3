package io.github.grpcidempotency.grpc;

import io.grpc.Metadata;

/** The metadata of the wire contract. All of it is ASCII; the trailers stand on success only. */
public final class IdempotencyMetadata {
  /** Request header: the client's key, unless the interceptor is told another name. */
  public static final Metadata.Key<String> KEY = ascii("idempotency-key");

  /** Trailer: {@code processing}, {@code completed} or {@code failed}. */
  public static final Metadata.Key<String> STATUS = ascii("idempotency-status");

  /** Trailer: {@code true} on replays, absent otherwise. */
  public static final Metadata.Key<String> REPLAYED = ascii("idempotency-replayed");

  /** Trailer: the id of the operation's record. */
  public static final Metadata.Key<String> OPERATION = ascii("idempotency-operation");

  /** Trailer: until when retries are answered, an RFC 3339 instant. */
  public static final Metadata.Key<String> EXPIRES = ascii("idempotency-expires");

  /** Trailer: on replays, the response fields that were never recorded, joined by commas. */
  public static final Metadata.Key<String> OMITTED = ascii("idempotency-omitted");

  /**
   * Trailer on errors: when gRPC's own retries may try again, in milliseconds; negative for never
   * (gRFC A6).
   */
  static final Metadata.Key<String> PUSHBACK = ascii("grpc-retry-pushback-ms");

  private static final Metadata.Key<String> TERMINAL = ascii("idempotency-terminal");

  private IdempotencyMetadata() {}

  /**
   * Marks an error as terminal: it is recorded, and every retry gets the same one. For a handler
   * that closes with {@code status.asRuntimeException(trailers)}. The mark does not reach the
   * client.
   */
  public static void markTerminal(Metadata trailers) {
    trailers.put(TERMINAL, "true");
  }

  static boolean removeTerminalMark(Metadata trailers) {
    return trailers.removeAll(TERMINAL) != null;
  }

  static Metadata.Key<String> ascii(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }
}
