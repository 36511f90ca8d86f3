package io.github.grpcidempotency.postgres.internal.sql;

import com.google.common.hash.Hashing;
import com.google.common.primitives.Ints;
import com.google.common.primitives.Longs;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * The advisory lock of an operation: 64 bits of a SHA-256, so that nobody can choose a key whose
 * lock collides with the lock of another caller's key. Tenant and project change the lower half
 * only, so that an operator who does not know them finds the lock by its upper half. The function
 * {@code lock_of} of the migrations returns the same number.
 */
public final class LockId {
  private LockId() {}

  public static long of(IdempotencyKey key) {
    Caller caller = key.caller();
    UUID user = caller.userId();
    byte[] value = key.value().getBytes(StandardCharsets.UTF_8);
    byte[] operation =
        ByteBuffer.allocate(2 * Long.BYTES + value.length)
            .putLong(user.getMostSignificantBits())
            .putLong(user.getLeastSignificantBits())
            .put(value)
            .array();
    String namespace = caller.tenant().orElse("") + '\0' + caller.project().orElse("");
    return Longs.fromByteArray(Hashing.sha256().hashBytes(operation).asBytes())
        ^ Integer.toUnsignedLong(
            Ints.fromByteArray(
                Hashing.sha256().hashString(namespace, StandardCharsets.UTF_8).asBytes()));
  }
}
