package io.github.grpcidempotency.tink;

import com.google.crypto.tink.Aead;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.procedure.ResponseProtection;
import java.security.GeneralSecurityException;

/**
 * Encrypts recorded answers with a Tink AEAD. Pass the primitive of a keyset: it encrypts with the
 * primary key, and decrypts with every key of the set. To rotate, add the new key on every server,
 * then make it the primary key, and remove the old one when the last record encrypted with it has
 * expired. Needs {@code com.google.crypto.tink:tink}, an optional dependency.
 */
public final class TinkProtection implements ResponseProtection {
  private final Aead aead;

  /** Creates the protection from an AEAD primitive. */
  public TinkProtection(Aead aead) {
    this.aead = aead;
  }

  @Override
  public ByteString seal(ByteString answer, ByteString binding) {
    try {
      return ByteString.copyFrom(aead.encrypt(answer.toByteArray(), binding.toByteArray()));
    } catch (GeneralSecurityException failure) {
      throw new IllegalStateException("an answer could not be encrypted", failure);
    }
  }

  @Override
  public ByteString open(ByteString stored, ByteString binding) {
    try {
      return ByteString.copyFrom(aead.decrypt(stored.toByteArray(), binding.toByteArray()));
    } catch (GeneralSecurityException failure) {
      throw new IllegalStateException("a recorded answer could not be decrypted", failure);
    }
  }
}
