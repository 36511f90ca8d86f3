package io.github.grpcidempotency.key.internal;

import java.nio.ByteBuffer;
import java.util.UUID;

/** Creates UUIDs from the first bits of a hash. */
public final class HashedUuid {
  private static final long VERSION_MASK = 0xF000L;
  private static final int VERSION_SHIFT = 12;
  private static final long VARIANT_MASK = 0xC000_0000_0000_0000L;
  private static final long VARIANT = 0x8000_0000_0000_0000L;

  private HashedUuid() {}

  /**
   * Returns the first 128 bits of a hash with the version and variant of RFC 9562 set.
   *
   * @param hash at least 16 bytes
   * @param version 1 to 8
   */
  public static UUID of(byte[] hash, int version) {
    ByteBuffer bits = ByteBuffer.wrap(hash);
    return new UUID(
        (bits.getLong() & ~VERSION_MASK) | ((long) version << VERSION_SHIFT),
        (bits.getLong() & ~VARIANT_MASK) | VARIANT);
  }
}
