package io.github.grpcidempotency.example.run.settings;

import com.google.crypto.tink.Aead;
import com.google.crypto.tink.InsecureSecretKeyAccess;
import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.TinkJsonProtoKeysetFormat;
import com.google.crypto.tink.aead.AeadConfig;
import com.google.crypto.tink.aead.PredefinedAeadParameters;
import io.github.grpcidempotency.example.run.database.StartupFailure;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;

/**
 * The keys that keep recorded answers secret: one seals, and all of them open. It is kept in a
 * file, in the format of Tink's own tools. <b>The file itself is not encrypted</b>; in a real
 * service, the key management would do that. Immutable.
 */
public final class Keyset {
  private final KeysetHandle handle;

  private Keyset(KeysetHandle handle) {
    this.handle = handle;
  }

  /** Returns a keyset of one new key. */
  public static Keyset create() {
    return tink(() -> KeysetHandle.newBuilder().addEntry(newEntry().makePrimary()).build());
  }

  /**
   * Reads a keyset.
   *
   * @throws StartupFailure if there is none
   */
  public static Keyset read(Path file) {
    try {
      String json = Files.readString(file);
      AeadConfig.register();
      Keyset keyset =
          new Keyset(
              TinkJsonProtoKeysetFormat.parseKeyset(
                  json, RegistryConfiguration.get(), InsecureSecretKeyAccess.get()));
      keyset.aead();
      return keyset;
    } catch (NoSuchFileException e) {
      throw new StartupFailure(
          "There is no keyset at %s; \"keys CREATE\" makes one, and all servers of a database need the same."
              .formatted(file));
    } catch (IOException e) {
      throw StartupFailure.because("The keyset " + file + " cannot be read", e);
    } catch (GeneralSecurityException | RuntimeException e) { // Tink throws either
      throw new StartupFailure(
          "%s is not a Tink keyset in JSON with keys that encrypt (AEAD).".formatted(file));
    }
  }

  /** Returns these keys and a new one, which opens and does not seal yet. */
  public Keyset withNewKey() {
    return tink(() -> KeysetHandle.newBuilder(handle).addEntry(newEntry()).build());
  }

  /** Returns the same keys, with the newest as the one that seals. */
  public Keyset sealingWithNewest() {
    return tink(
        () -> {
          KeysetHandle.Builder builder = KeysetHandle.newBuilder(handle);
          builder.getAt(builder.size() - 1).makePrimary();
          return builder.build();
        });
  }

  /** Returns the id of the key that seals; what it has sealed begins with a 1 and this id. */
  public int sealingKey() {
    return handle.getPrimary().getId();
  }

  /** Returns how many keys there are. */
  public int size() {
    return handle.size();
  }

  /**
   * Writes the keyset to a file that must not exist yet.
   *
   * @throws StartupFailure if there is one, or it cannot be written
   */
  public void writeNew(Path file) {
    try {
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      Files.writeString(file, json());
    } catch (FileAlreadyExistsException e) {
      throw new StartupFailure(
          "There is a keyset at %s already; without it, what it has sealed is lost."
              .formatted(file));
    } catch (IOException e) {
      throw StartupFailure.because("The keyset " + file + " cannot be written", e);
    }
  }

  /**
   * Replaces an older keyset atomically, so that nobody reads half of it.
   *
   * @throws StartupFailure if it cannot be written
   */
  public void replace(Path file) {
    Path whole = file.resolveSibling(file.getFileName() + ".new");
    try {
      Files.deleteIfExists(whole);
      writeNew(whole);
      Files.move(whole, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw StartupFailure.because("The keyset " + file + " cannot be written", e);
    }
  }

  /** Returns what seals and opens. */
  Aead aead() {
    try {
      return handle.getPrimitive(RegistryConfiguration.get(), Aead.class);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("the keyset cannot be used", e);
    }
  }

  private String json() {
    try {
      return TinkJsonProtoKeysetFormat.serializeKeyset(
          handle, RegistryConfiguration.get(), InsecureSecretKeyAccess.get());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("the keyset cannot be serialized", e);
    }
  }

  private static KeysetHandle.Builder.Entry newEntry() {
    return KeysetHandle.generateEntryFromParameters(PredefinedAeadParameters.AES256_GCM)
        .withRandomId();
  }

  private interface KeysetWork {
    KeysetHandle run() throws GeneralSecurityException;
  }

  private static Keyset tink(KeysetWork work) {
    try {
      AeadConfig.register();
      return new Keyset(work.run());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Tink has no AES", e);
    }
  }
}
