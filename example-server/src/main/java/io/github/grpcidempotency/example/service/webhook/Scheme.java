package io.github.grpcidempotency.example.service.webhook;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.hash.Hashing;
import io.github.grpcidempotency.example.organization.v1.WebhookProvider;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Optional;

/**
 * A provider's way to sign its deliveries and to identify events. Both providers here sign with an
 * HMAC-SHA256 (RFC 2104) under the webhook's secret, in hexadecimal digits. Stateless.
 */
public abstract sealed class Scheme permits GitHubScheme, StripeScheme {
  /** Returns the scheme of a provider, if a request names a known one. */
  public static Optional<Scheme> of(WebhookProvider provider) {
    return switch (provider) {
      case STRIPE -> Optional.of(new StripeScheme());
      case GITHUB -> Optional.of(new GitHubScheme());
      case WEBHOOK_PROVIDER_UNSPECIFIED, UNRECOGNIZED -> Optional.empty();
    };
  }

  /**
   * Returns the scheme of a provider by its name in the table.
   *
   * @throws IllegalArgumentException if there is no such provider
   */
  static Scheme of(String provider) {
    return Arrays.stream(WebhookProvider.values())
        .flatMap(known -> of(known).stream())
        .filter(scheme -> scheme.provider().equals(provider))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("there is no provider " + provider));
  }

  /** Returns the provider's name in the table, with which keys begin. */
  public abstract String provider();

  /** Returns whether a delivery is signed with the webhook's secret. */
  abstract boolean isSigned(Delivery delivery, String secret);

  /**
   * Returns the event's name in a signed delivery. All deliveries of an event have the same name.
   */
  abstract Optional<String> event(Delivery delivery);

  static String hmac(String secret, byte[] message) {
    return Hashing.hmacSha256(secret.getBytes(UTF_8)).hashBytes(message).toString();
  }

  /** Compares in constant time. */
  static boolean matches(String expected, String given) {
    return MessageDigest.isEqual(expected.getBytes(UTF_8), given.getBytes(UTF_8));
  }
}
