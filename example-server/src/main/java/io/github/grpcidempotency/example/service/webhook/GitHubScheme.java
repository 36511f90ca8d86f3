package io.github.grpcidempotency.example.service.webhook;

import java.util.Optional;

/**
 * GitHub: {@code X-Hub-Signature-256: sha256=<hex>}, an HMAC-SHA256 over the body. The event is
 * {@code X-GitHub-Delivery}, which a redelivery repeats. The signature covers neither that header
 * nor a time, so a recorded delivery under a new name cannot be detected: TLS has to prevent
 * recording.
 *
 * @see <a
 *     href="https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries">GitHub's
 *     documentation</a>
 */
final class GitHubScheme implements Scheme {
  @Override
  public boolean isSigned(Delivery delivery, Registration webhook) {
    String expected =
        "sha256=" + Hmac.sha256(webhook.signingSecret(), delivery.body().toByteArray());
    return delivery
        .header("X-Hub-Signature-256")
        .filter(given -> Hmac.matches(expected, given))
        .isPresent();
  }

  @Override
  public Optional<String> event(Delivery delivery) {
    return delivery.header("X-GitHub-Delivery");
  }
}
