package io.github.grpcidempotency.procedure;

import com.google.protobuf.ByteString;

/**
 * Keeps recorded responses secret at rest. Thread-safe.
 *
 * <p>{@link TinkProtection} does it with a Tink keyset.
 */
public interface ResponseProtection {
  /**
   * Returns what is stored for a response.
   *
   * @param binding names the record (its user, key and procedure): what was sealed with one binding
   *     must not open with another, so that nobody can swap rows
   */
  ByteString seal(ByteString response, ByteString binding);

  /**
   * Returns the response that was stored.
   *
   * @throws IllegalStateException if it was sealed with another binding, or its key is gone
   */
  ByteString open(ByteString stored, ByteString binding);
}
