package io.github.grpcidempotency.example;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signs as the providers' documentation says, and shares no code with what checks it. */
public final class ProviderSignature {
  private ProviderSignature() {}

  /** A {@code Stripe-Signature}. */
  public static String stripe(String secret, long time, String body) {
    return "t=%d,v1=%s".formatted(time, hex(hmac("HmacSHA256", secret, time + "." + body)));
  }

  /** An {@code X-Hub-Signature-256}. */
  public static String github(String secret, String body) {
    return "sha256=" + hex(hmac("HmacSHA256", secret, body));
  }

  private static byte[] hmac(String algorithm, String secret, String message) {
    try {
      Mac mac = Mac.getInstance(algorithm);
      mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), algorithm));
      return mac.doFinal(message.getBytes(StandardCharsets.UTF_8));
    } catch (GeneralSecurityException impossible) {
      throw new AssertionError("every Java platform has " + algorithm, impossible);
    }
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }
}
