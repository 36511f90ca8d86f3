package io.github.grpcidempotency.example.run.settings;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.github.grpcidempotency.procedure.TinkProtection;
import java.nio.file.Path;

/**
 * Encrypts recorded answers with the keyset in a file. When the keyset is rotated, it uses the new
 * one without a restart. Thread-safe.
 */
public final class KeysetProtection implements ResponseProtection {
  private final WatchedFile<TinkProtection> current;

  /**
   * Reads the keyset.
   *
   * @throws io.github.grpcidempotency.example.run.database.StartupFailure if there is none
   */
  public KeysetProtection(Path file) {
    this.current = new WatchedFile<>(file, path -> new TinkProtection(Keyset.read(path).aead()));
  }

  @Override
  public ByteString seal(ByteString response, ByteString binding) {
    return current.get().seal(response, binding);
  }

  @Override
  public ByteString open(ByteString stored, ByteString binding) {
    return current.get().open(stored, binding);
  }
}
