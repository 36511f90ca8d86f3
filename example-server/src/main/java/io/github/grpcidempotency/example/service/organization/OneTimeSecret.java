package io.github.grpcidempotency.example.service.organization;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;

/**
 * A secret that is returned once. Its owner presents it, and the server recognizes it by its hash.
 * 256 random bits need no salt and no slow hash.
 *
 * @param text the secret itself
 */
record OneTimeSecret(String text) {
  private static final int BYTES = 32;
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Makes a new secret, with a prefix by which people and scanners recognize its kind. */
  static OneTimeSecret mint(String prefix) {
    byte[] random = new byte[BYTES];
    RANDOM.nextBytes(random);
    return new OneTimeSecret(
        prefix + Base64.getUrlEncoder().withoutPadding().encodeToString(random));
  }

  /** Returns the hash, which is stored. */
  byte[] sha256() {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException impossible) {
      throw new AssertionError("every Java platform has SHA-256", impossible);
    }
  }

  /** Leaves out the secret. */
  @Override
  public String toString() {
    return "OneTimeSecret[withheld]";
  }
}
