package io.github.grpcidempotency.grpc;

import static io.github.grpcidempotency.grpc.internal.WireMetadata.ascii;

import io.github.grpcidempotency.grpc.internal.WireMetadata;
import io.github.grpcidempotency.proto.WireNames;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.grpc.Metadata;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;

/**
 * The metadata of the wire contract. All entries are ASCII. The trailers are sent with successful
 * answers. An error has the trailer {@link #OPERATION} if it is about an operation.
 */
public final class IdempotencyMetadata {
  /** Request header: the client's key, unless the procedure has another key source. */
  public static final Metadata.Key<String> KEY = ascii(WireNames.KEY);

  /** Trailer: {@code processing}, {@code completed} or {@code failed}. */
  public static final Metadata.Key<String> STATUS = ascii(WireNames.STATUS);

  /** Trailer: {@code true} on replays, absent otherwise. */
  public static final Metadata.Key<String> REPLAYED = ascii(WireNames.REPLAYED);

  /** Trailer: the id of the operation's record. */
  public static final Metadata.Key<String> OPERATION = WireMetadata.OPERATION;

  /** Trailer: when the record expires, an RFC 3339 instant. */
  public static final Metadata.Key<String> EXPIRES = ascii(WireNames.EXPIRES);

  /** Trailer of replays: {@code true} if the answer was rebuilt from its resource. */
  public static final Metadata.Key<String> RECONSTRUCTED = ascii(WireNames.RECONSTRUCTED);

  /** Trailer: on replays, the response fields that were not recorded, joined by commas. */
  public static final Metadata.Key<String> OMITTED = ascii(WireNames.OMITTED);

  private static final Metadata.Key<String> TERMINAL = ascii("idempotency-terminal");

  private IdempotencyMetadata() {}

  /**
   * Marks an error as terminal: the error is recorded, and every retry gets the same error. Use it
   * with {@code status.asRuntimeException(trailers)}. The mark is not sent to the client.
   */
  public static void markTerminal(Metadata trailers) {
    trailers.put(TERMINAL, "true");
  }

  static boolean removeTerminalMark(Metadata trailers) {
    return trailers.removeAll(TERMINAL) != null;
  }

  /**
   * Adds the trailer of an error about an operation. It shows the client that the call was not
   * refused by another interceptor before this one.
   */
  static void stampError(Metadata trailers, UUID operationId) {
    trailers.discardAll(REPLAYED);
    trailers.discardAll(OPERATION);
    trailers.put(OPERATION, operationId.toString());
  }

  /** Adds the trailers of a response of an operation. */
  static void stamp(
      Metadata trailers, UUID operationId, Instant expires, Optional<IdempotencyStatus> status) {
    for (Metadata.Key<String> ours :
        List.of(STATUS, REPLAYED, RECONSTRUCTED, OPERATION, EXPIRES, OMITTED)) {
      trailers.discardAll(ours);
    }
    status.ifPresent(known -> trailers.put(STATUS, known.name().toLowerCase(Locale.ROOT)));
    trailers.put(OPERATION, operationId.toString());
    trailers.put(EXPIRES, expires.toString());
  }
}
