package io.github.grpcidempotency.postgres.internal.sql;

import com.google.common.hash.Hashing;
import com.google.common.primitives.Longs;
import io.github.grpcidempotency.key.IdempotencyKey;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * The advisory lock of an operation: 64 bits of a SHA-256, so that nobody can choose a key whose
 * lock collides with the lock of another caller's key. The function {@code lock_of} of the
 * migrations returns the same number.
 */
public final class LockId {
  private LockId() {}

  public static long of(IdempotencyKey key) {
    UUID user = key.caller().userId();
    byte[] text = key.qualified().getBytes(StandardCharsets.UTF_8);
    byte[] operation =
        ByteBuffer.allocate(2 * Long.BYTES + text.length)
            .putLong(user.getMostSignificantBits())
            .putLong(user.getLeastSignificantBits())
            .put(text)
            .array();
    return Longs.fromByteArray(Hashing.sha256().hashBytes(operation).asBytes());
  }
}
