package io.github.grpcidempotency.example.service.webhook;

import java.util.Optional;

/**
 * GitHub: {@code X-Hub-Signature-256: sha256=<hex>}, over the body. The event is {@code
 * X-GitHub-Delivery}, which a redelivery repeats. The signature covers neither that header nor a
 * time, so a recorded delivery under a new name cannot be detected: TLS has to prevent recording.
 *
 * @see <a
 *     href="https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries">GitHub's
 *     documentation</a>
 */
final class GitHubScheme extends Scheme {
  @Override
  public String provider() {
    return "github";
  }

  @Override
  boolean isSigned(Delivery delivery, String secret) {
    String expected = "sha256=" + hmac(secret, delivery.body().toByteArray());
    return delivery
        .header("X-Hub-Signature-256")
        .filter(given -> matches(expected, given))
        .isPresent();
  }

  @Override
  Optional<String> event(Delivery delivery) {
    return delivery.header("X-GitHub-Delivery");
  }
}
