package io.github.grpcidempotency.procedure;

import com.google.protobuf.ByteString;

/**
 * Keeps recorded answers secret at rest: responses, and terminal errors. Thread-safe.
 *
 * <p>{@link TinkProtection} does it with a Tink keyset.
 */
public interface ResponseProtection {
  /**
   * Returns what is stored for an answer. What it throws keeps the answer from being recorded, and
   * it is tried again as after an outage of the store.
   *
   * @param binding names the record (its user, key and procedure): what was sealed with one binding
   *     must not open with another, so that nobody can swap rows
   */
  ByteString seal(ByteString answer, ByteString binding);

  /**
   * Returns the answer that was stored.
   *
   * @throws IllegalStateException if it was sealed with another binding, or its key is gone; the
   *     replay is then refused, and the record kept
   */
  ByteString open(ByteString stored, ByteString binding);
}
