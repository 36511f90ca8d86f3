package io.github.grpcidempotency.admin;

import java.util.Optional;

/**
 * The recorded outcome of an operation, as stored: encrypted, if the service encrypts it.
 *
 * @param response the response's bytes; empty if there is none, or if the response is rebuilt from
 *     the resource
 * @param failure the recorded error's bytes, an {@code idempotency.v1.RecordedError}
 */
public record Contents(Optional<byte[]> response, Optional<byte[]> failure) {
  /** Omits the contents, because they must not get into logs. */
  @Override
  public String toString() {
    return "Contents[withheld]";
  }
}
