package io.github.grpcidempotency.example.service.webhook;

import com.google.common.hash.HashCode;
import com.google.common.hash.Hashing;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;

/** Message authentication codes under a webhook's secret (RFC 2104), as providers spell them. */
final class Hmac {
  private Hmac() {}

  /** Returns the HMAC-SHA256 in lower-case hexadecimal digits. */
  static String sha256(String secret, byte[] message) {
    return Hashing.hmacSha256(bytes(secret)).hashBytes(message).toString();
  }

  /** Returns the HMAC-SHA1 in Base64. */
  static String sha1(String secret, String message) {
    HashCode code = Hashing.hmacSha1(bytes(secret)).hashBytes(bytes(message));
    return Base64.getEncoder().encodeToString(code.asBytes());
  }

  /** Compares in constant time. */
  static boolean matches(String expected, String given) {
    return MessageDigest.isEqual(bytes(expected), bytes(given));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
