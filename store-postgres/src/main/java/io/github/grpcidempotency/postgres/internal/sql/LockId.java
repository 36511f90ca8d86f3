package io.github.grpcidempotency.postgres.internal.sql;

import com.google.common.hash.Hashing;
import io.github.grpcidempotency.key.IdempotencyKey;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * The advisory lock of an operation: 64 bits of a SHA-256, so that nobody can choose a key whose
 * lock collides with the lock of another user's key.
 */
public final class LockId {
  private LockId() {}

  public static long of(IdempotencyKey key) {
    UUID user = key.caller().userId();
    return Hashing.sha256()
        .newHasher()
        .putLong(user.getMostSignificantBits())
        .putLong(user.getLeastSignificantBits())
        .putString(key.stored(), StandardCharsets.UTF_8)
        .hash()
        .asLong();
  }
}
