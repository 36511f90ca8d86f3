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
  /** The result of comparing a request with a recorded one. */
  public enum Match {
    /** The requests are equal. */
    SAME,
    /** The requests differ. */
    OTHER,
    /** The record was made under newer rules that this server does not know. */
    INCOMPARABLE
  }

  /** Returns whether the hashes are equal. Takes constant time. */
  public boolean matches(Fingerprint other) {
    return version == other.version
        && MessageDigest.isEqual(hash.toByteArray(), other.hash.toByteArray());
  }
}
