package io.github.grpcidempotency.admin.console;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Tokens that prove that this console made a form for this browser, this user and this purpose: an
 * HMAC-SHA-256 of all three. Another site's page can send a form to the console with the browser's
 * credentials, but does not know the token.
 */
final class FormTokens {
  private static final String ALGORITHM = "HmacSHA256";
  private static final int SESSION_BYTES = 16;
  private static final Pattern SESSION = Pattern.compile("[A-Za-z0-9_-]{22}");

  private final SecureRandom random = new SecureRandom();
  private final SecretKeySpec secret;

  FormTokens(byte[] secret) {
    this.secret = new SecretKeySpec(secret, ALGORITHM);
  }

  /** Returns a new session id for a browser. */
  String newSession() {
    return encoded(randomBytes(random, SESSION_BYTES));
  }

  static boolean isSession(String text) {
    return SESSION.matcher(text).matches();
  }

  String token(String session, ConsoleUser user, String purpose) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(secret);
      // The first two have no line break, so two different triples have different texts.
      String text = session + "\n" + encoded(bytes(user.actor())) + "\n" + purpose;
      return encoded(mac.doFinal(bytes(text)));
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  boolean isValid(String token, String session, ConsoleUser user, String purpose) {
    return MessageDigest.isEqual(bytes(token), bytes(token(session, user, purpose)));
  }

  static byte[] randomBytes(SecureRandom random, int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    return bytes;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String encoded(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }
}
