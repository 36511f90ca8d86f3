package io.github.grpcidempotency.internal.record;

import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.key.internal.HashedUuid;
import io.github.grpcidempotency.procedure.Procedure;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * The key of a call that a handler makes to another service: a SHA-256 over the operation's caller,
 * key and procedure, and a name. It has the form of a version 4 UUID, as AIP-155 requires.
 */
public final class OutboundKey {
  private static final String DOMAIN = "grpc-idempotency outbound key 1";

  private OutboundKey() {}

  /**
   * Returns the key of the outbound call with that name. It is the same in every run of the
   * operation.
   */
  public static UUID of(IdempotencyKey key, Procedure procedure, String name) {
    UUID user = key.caller().userId();
    Hasher hasher = Hashing.sha256().newHasher();
    put(hasher, DOMAIN);
    hasher.putLong(user.getMostSignificantBits()).putLong(user.getLeastSignificantBits());
    put(hasher, key.qualified());
    put(hasher, procedure.name());
    put(hasher, name);
    return HashedUuid.of(hasher.hash().asBytes(), 4);
  }

  /**
   * Writes the length before the text, so that different lists of texts never give the same bytes.
   */
  private static void put(Hasher hasher, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    hasher.putInt(bytes.length).putBytes(bytes);
  }
}
