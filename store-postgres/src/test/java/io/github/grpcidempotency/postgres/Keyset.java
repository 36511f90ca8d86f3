package io.github.grpcidempotency.postgres;

import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.aead.AeadConfig;
import com.google.crypto.tink.aead.PredefinedAeadParameters;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.github.grpcidempotency.tink.TinkProtection;
import java.security.GeneralSecurityException;

/** A Tink keyset of one key. */
final class Keyset {
  private final KeysetHandle handle;

  private Keyset(KeysetHandle handle) {
    this.handle = handle;
  }

  /** Returns a keyset of one new key. */
  static Keyset create() {
    try {
      AeadConfig.register();
      return new Keyset(
          KeysetHandle.generateNew(
              PredefinedAeadParameters.AES256_GCM, RegistryConfiguration.get()));
    } catch (GeneralSecurityException failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** Returns the id of its key, as it is printed. */
  String id() {
    return String.valueOf(Integer.toUnsignedLong(handle.getAt(0).getId()));
  }

  /** Returns the protection of a server that does not start if other keys are in use. */
  ResponseProtection refusing() {
    try {
      return TinkProtection.refusingUnknownKeys(handle);
    } catch (GeneralSecurityException failure) {
      throw new IllegalStateException(failure);
    }
  }

  ResponseProtection protection() {
    try {
      return TinkProtection.of(handle);
    } catch (GeneralSecurityException failure) {
      throw new IllegalStateException(failure);
    }
  }
}
