package io.github.grpcidempotency.key;

import com.google.protobuf.ByteString;
import java.security.MessageDigest;

/**
 * What a request said, in 32 bytes.
 *
 * @param version which way of hashing made it, stored with the hash: deterministic protobuf is not
 *     canonical across schema versions, so hashes of different versions are not comparable
 * @param hash the digest
 */
public record Fingerprint(int version, ByteString hash) {
  /** Compares in a time that does not depend on where two hashes differ. */
  public boolean matches(Fingerprint other) {
    return version == other.version
        && MessageDigest.isEqual(hash.toByteArray(), other.hash.toByteArray());
  }
}
