package io.github.grpcidempotency.example.run;

import com.google.crypto.tink.InsecureSecretKeyAccess;
import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.TinkJsonProtoKeysetFormat;
import com.google.crypto.tink.aead.AeadConfig;
import com.google.crypto.tink.aead.PredefinedAeadParameters;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.github.grpcidempotency.tink.TinkProtection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * The keyset that encrypts recorded answers: one key encrypts, and all of them decrypt. The file
 * has the format of Tink's own tools. <b>The file itself is not encrypted</b>; a real service would
 * use a key management system.
 */
@Command(
    name = "keys",
    description =
        "Creates the keyset that encrypts recorded answers, and rotates it: ADD first, then"
            + " SEAL when every server has the new key.")
public final class Keys implements Callable<Integer> {
  /** The commands for a keyset. */
  enum Action {
    /** Creates a keyset with one key. */
    CREATE,

    /** Adds a key that decrypts but does not encrypt yet. */
    ADD,

    /** Makes the newest key encrypt. */
    SEAL
  }

  @Parameters(index = "0", paramLabel = "CREATE|ADD|SEAL", description = "what to do")
  private Action action = Action.CREATE;

  @Parameters(index = "1", paramLabel = "FILE", description = "the file of the keyset")
  private Path file = Path.of("keyset.json");

  @Override
  public Integer call() throws GeneralSecurityException, IOException {
    AeadConfig.register();
    switch (action) {
      case CREATE -> {
        Files.createFile(
            file,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        write(
            KeysetHandle.generateNew(
                PredefinedAeadParameters.AES256_GCM, RegistryConfiguration.get()));
      }
      case ADD -> {
        KeysetHandle.Builder keys = KeysetHandle.newBuilder(read(file));
        keys.addEntry(
            KeysetHandle.generateEntryFromParameters(PredefinedAeadParameters.AES256_GCM)
                .withRandomId());
        write(keys.build());
      }
      case SEAL -> {
        KeysetHandle.Builder keys = KeysetHandle.newBuilder(read(file));
        keys.getAt(keys.size() - 1).makePrimary();
        write(keys.build());
      }
    }
    return 0;
  }

  private void write(KeysetHandle keys) throws GeneralSecurityException, IOException {
    Files.writeString(
        file,
        TinkJsonProtoKeysetFormat.serializeKeyset(
            keys, RegistryConfiguration.get(), InsecureSecretKeyAccess.get()),
        StandardOpenOption.WRITE,
        StandardOpenOption.TRUNCATE_EXISTING);
  }

  private static KeysetHandle read(Path file) throws GeneralSecurityException, IOException {
    AeadConfig.register();
    return TinkJsonProtoKeysetFormat.parseKeyset(
        Files.readString(file), RegistryConfiguration.get(), InsecureSecretKeyAccess.get());
  }

  /** Returns a protection with the keys in a file. */
  public static ResponseProtection in(Path file) throws GeneralSecurityException, IOException {
    return protection(read(file));
  }

  /**
   * Returns a protection with a key that exists only in this process. Encrypted data is lost with
   * the process.
   */
  public static ResponseProtection temporary() throws GeneralSecurityException {
    AeadConfig.register();
    return protection(
        KeysetHandle.generateNew(PredefinedAeadParameters.AES256_GCM, RegistryConfiguration.get()));
  }

  /** Returns a secret for hashes in the log. Hashes of other processes differ. */
  public static ByteString temporaryLogSecret() {
    byte[] secret = new byte[32];
    new SecureRandom().nextBytes(secret);
    return ByteString.copyFrom(secret);
  }

  private static ResponseProtection protection(KeysetHandle keys) throws GeneralSecurityException {
    return TinkProtection.of(keys);
  }
}
