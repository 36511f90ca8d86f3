package io.github.grpcidempotency.key;

import com.google.protobuf.ByteString;
import java.security.MessageDigest;

/**
 * The hash of a request, used to compare retries with the first call.
 *
 * @param version the version of the rules that made the hash; hashes of different versions are not
 *     comparable
 * @param hash 32 bytes of SHA-256
 */
public record Fingerprint(int version, ByteString hash) {
  /** Returns whether the hashes are equal. Takes constant time. */
  public boolean matches(Fingerprint other) {
    return version == other.version
        && MessageDigest.isEqual(hash.toByteArray(), other.hash.toByteArray());
  }
}
