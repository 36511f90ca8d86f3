package io.github.grpcidempotency.example;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
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

  /** An {@code X-Twilio-Signature} of a URL that holds everything, as with JSON bodies. */
  public static String twilio(String token, String url) {
    return Base64.getEncoder().encodeToString(hmac("HmacSHA1", token, url));
  }

  /** An {@code X-Twilio-Signature} of a URL and a form. */
  public static String twilio(String token, String url, Map<String, String> form) {
    String parameters =
        new TreeMap<>(form)
            .entrySet().stream()
                .map(parameter -> parameter.getKey() + parameter.getValue())
                .collect(Collectors.joining());
    return twilio(token, url + parameters);
  }

  /** An {@code application/x-www-form-urlencoded} body. */
  public static String encoded(Map<String, String> form) {
    return form.entrySet().stream()
        .map(parameter -> encoded(parameter.getKey()) + "=" + encoded(parameter.getValue()))
        .collect(Collectors.joining("&"));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
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
