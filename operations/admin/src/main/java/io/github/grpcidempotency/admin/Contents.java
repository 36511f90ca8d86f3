package io.github.grpcidempotency.admin;

import java.util.Optional;

/**
 * What is recorded of an operation's outcome, as stored: sealed, if the service encrypts it.
 *
 * @param response the response's bytes; empty if there is none, or if it is made from the resource
 * @param failure the recorded error's bytes, an {@code idempotency.v1.RecordedError}
 */
public record Contents(Optional<byte[]> response, Optional<byte[]> failure) {
  /** Leaves out the contents, because they must not get into logs. */
  @Override
  public String toString() {
    return "Contents[withheld]";
  }
}
