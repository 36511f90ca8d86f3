package io.github.grpcidempotency.example.service.organization;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;

/**
 * A secret that is told once: whoever has it shows it, and the server knows it again by its hash.
 * 256 random bits need no salt and no slow hash.
 *
 * @param text what is told
 */
record OneTimeSecret(String text) {
  private static final int BYTES = 32;
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Makes a new one, with a word in front by which people and scanners know its kind. */
  static OneTimeSecret mint(String prefix) {
    byte[] random = new byte[BYTES];
    RANDOM.nextBytes(random);
    return new OneTimeSecret(
        prefix + Base64.getUrlEncoder().withoutPadding().encodeToString(random));
  }

  /** Returns what is kept of it. */
  byte[] sha256() {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException impossible) {
      throw new AssertionError("every Java platform has SHA-256", impossible);
    }
  }

  /** Says nothing of it. */
  @Override
  public String toString() {
    return "OneTimeSecret[withheld]";
  }
}
