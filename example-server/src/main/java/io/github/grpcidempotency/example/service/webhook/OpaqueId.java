package io.github.grpcidempotency.example.service.webhook;

import java.security.SecureRandom;
import java.util.Base64;
import java.util.regex.Pattern;

/**
 * The name of a webhook in deliveries: 192 random bits, which nobody can guess, and which reveal
 * nothing about the project.
 */
public final class OpaqueId {
  private static final String PREFIX = "whk_";
  private static final int RANDOM_BYTES = 24;
  private static final Pattern FORMAT = Pattern.compile(PREFIX + "[A-Za-z0-9_-]{32}");
  private static final SecureRandom RANDOM = new SecureRandom();

  private OpaqueId() {}

  /** Returns a new one. */
  public static String create() {
    byte[] random = new byte[RANDOM_BYTES];
    RANDOM.nextBytes(random);
    return PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(random);
  }

  static boolean isWellFormed(String id) {
    return FORMAT.matcher(id).matches();
  }
}
