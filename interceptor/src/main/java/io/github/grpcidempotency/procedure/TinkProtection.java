package io.github.grpcidempotency.procedure;

import com.google.crypto.tink.Aead;
import com.google.protobuf.ByteString;
import java.security.GeneralSecurityException;

/**
 * Encrypts recorded answers with a Tink AEAD. Take the primitive of a keyset: new answers are then
 * sealed with its primary key, and older ones open as long as their key is in the set. To rotate,
 * give every server the new key first, then make it the primary one, and remove the old one when
 * the last record sealed with it has expired. Needs {@code com.google.crypto.tink:tink}, an
 * optional dependency.
 */
public final class TinkProtection implements ResponseProtection {
  private final Aead aead;

  /** Makes the protection of an AEAD primitive. */
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
