package io.github.grpcidempotency.grpc.internal;

import io.github.grpcidempotency.proto.WireNames;
import io.grpc.Metadata;

/** Metadata entries of the wire contract; all of them are ASCII. */
public final class WireMetadata {
  /** Trailer: the id of the operation's record. */
  public static final Metadata.Key<String> OPERATION = ascii(WireNames.OPERATION);

  /**
   * Trailer on errors: when gRPC's built-in retries may retry, in milliseconds; negative for never
   * (gRFC A6).
   */
  public static final Metadata.Key<String> PUSHBACK = ascii(WireNames.PUSHBACK);

  private WireMetadata() {}

  public static Metadata.Key<String> ascii(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }
}
