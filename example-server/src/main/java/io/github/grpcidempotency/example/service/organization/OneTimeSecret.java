package io.github.grpcidempotency.example.service.organization;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.hash.Hashing;
import java.security.SecureRandom;
import java.util.Base64;

/**
 * A secret that is returned once. The database stores its hash. 256 random bits need no salt and no
 * slow hash.
 */
record OneTimeSecret(String text) {
  private static final int BYTES = 32;
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Creates a secret with a prefix by which people and scanners recognize its kind. */
  static OneTimeSecret mint(String prefix) {
    byte[] random = new byte[BYTES];
    RANDOM.nextBytes(random);
    return new OneTimeSecret(
        prefix + Base64.getUrlEncoder().withoutPadding().encodeToString(random));
  }

  byte[] sha256() {
    return Hashing.sha256().hashString(text, UTF_8).asBytes();
  }

  /** Omits the secret. */
  @Override
  public String toString() {
    return "OneTimeSecret[withheld]";
  }
}
