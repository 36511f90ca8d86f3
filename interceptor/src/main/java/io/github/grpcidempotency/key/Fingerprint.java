package io.github.grpcidempotency.key;

import com.google.protobuf.ByteString;
import java.security.MessageDigest;

/**
 * What a request said, in 32 bytes.
 *
 * @param version which rules made it, stored with the hash: hashes of different versions are not
 *     comparable
 * @param hash the digest
 */
public record Fingerprint(int version, ByteString hash) {
  /** How a request compares with a recorded one. */
  public enum Match {
    /** They say the same. */
    SAME,
    /** They differ. */
    OTHER,
    /** The record was made under rules that this server does not know (yet). */
    INCOMPARABLE
  }

  /** Compares in a time that does not depend on where two hashes differ. */
  public boolean matches(Fingerprint other) {
    return version == other.version
        && MessageDigest.isEqual(hash.toByteArray(), other.hash.toByteArray());
  }
}
