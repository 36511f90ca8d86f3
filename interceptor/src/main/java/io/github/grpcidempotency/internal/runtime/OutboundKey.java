package io.github.grpcidempotency.internal.runtime;

import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import io.github.grpcidempotency.internal.id.HashedUuid;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Procedure;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * The key of a call that a handler makes: a SHA-256 over the operation's caller, key and procedure,
 * and a name. It has the form of a UUID of version 4, because AIP-155 asks for one.
 */
public final class OutboundKey {
  private static final String DOMAIN = "grpc-idempotency outbound key 1";

  private OutboundKey() {}

  /** Returns the key of an operation's call of that name. Every run gets the same one. */
  public static UUID of(IdempotencyKey key, Procedure procedure, String name) {
    UUID user = key.caller().userId();
    Hasher hasher = Hashing.sha256().newHasher();
    put(hasher, DOMAIN);
    hasher.putLong(user.getMostSignificantBits()).putLong(user.getLeastSignificantBits());
    put(hasher, key.stored());
    put(hasher, procedure.name());
    put(hasher, name);
    return HashedUuid.of(hasher.hash().asBytes(), 4);
  }

  /** Puts the length in front, so that two different lists of texts never give the same bytes. */
  private static void put(Hasher hasher, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    hasher.putInt(bytes.length).putBytes(bytes);
  }
}
