package io.github.grpcidempotency.procedure;

import com.google.protobuf.ByteString;
import java.util.Set;

/**
 * Encrypts recorded answers: responses and terminal errors. Thread-safe.
 *
 * <p>{@code TinkProtection} of the module {@code grpc-idempotency-tink} implements it with a Tink
 * keyset.
 */
public interface ResponseProtection {
  /**
   * Encrypts an answer for the store. If it throws, the client gets {@code ABORTED} and the answer
   * is recorded in the background, as after an outage of the store.
   *
   * @param binding identifies the record (its user, key and procedure); an answer that was
   *     encrypted with one binding must not be decryptable with another, so that rows cannot be
   *     swapped
   */
  ByteString seal(ByteString answer, ByteString binding);

  /**
   * Decrypts a stored answer.
   *
   * @throws IllegalStateException if it was encrypted with another binding, or its encryption key
   *     is missing; the replay is then refused for good with {@code IDEMPOTENCY_RECORD_UNREADABLE},
   *     and the record is kept. After any other exception the client may retry: it gets {@code
   *     UNAVAILABLE}
   */
  ByteString open(ByteString stored, ByteString binding);

  /**
   * Checks at start-up whether recorded answers can be decrypted. By default, does nothing.
   *
   * @param beginnings the first five bytes of the procedure's newest recorded answers, as far as
   *     the store returns them
   * @throws IllegalStateException if the server must not start
   */
  default void verify(String procedure, Set<ByteString> beginnings) {}
}
