package io.github.grpcidempotency.postgres;

import com.google.crypto.tink.Aead;
import com.google.crypto.tink.KeyTemplates;
import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.KeysetManager;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.aead.AeadConfig;
import com.google.crypto.tink.aead.PredefinedAeadParameters;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.github.grpcidempotency.procedure.TinkProtection;
import java.security.GeneralSecurityException;

/** A Tink keyset, as a service rotates it. Immutable. */
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

  /** Returns this keyset with a new primary key beside the old ones. */
  Keyset rotated() {
    try {
      KeysetManager manager =
          KeysetManager.withKeysetHandle(handle).add(KeyTemplates.get("AES256_GCM"));
      int added = manager.getKeysetHandle().getAt(handle.size()).getId();
      return new Keyset(manager.setPrimary(added).getKeysetHandle());
    } catch (GeneralSecurityException failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** Returns this keyset without its oldest key. */
  Keyset withoutOldest() {
    try {
      return new Keyset(
          KeysetManager.withKeysetHandle(handle).delete(handle.getAt(0).getId()).getKeysetHandle());
    } catch (GeneralSecurityException failure) {
      throw new IllegalStateException(failure);
    }
  }

  ResponseProtection protection() {
    try {
      return new TinkProtection(handle.getPrimitive(RegistryConfiguration.get(), Aead.class));
    } catch (GeneralSecurityException failure) {
      throw new IllegalStateException(failure);
    }
  }
}
