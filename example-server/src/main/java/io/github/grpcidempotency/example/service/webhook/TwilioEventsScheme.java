package io.github.grpcidempotency.example.service.webhook;

import com.google.common.hash.Hashing;
import java.util.Optional;

/**
 * Twilio, with JSON bodies, as Event Streams sends them: {@code X-Twilio-Signature} is the
 * HMAC-SHA1, in Base64, of the URL with a query parameter {@code bodySHA256}, the digest of the
 * body. The URL is the registered one and the digest is computed here, so nothing from the request
 * is trusted. The event is {@code I-Twilio-Idempotency-Token}, which the signature does not cover.
 *
 * @see <a href="https://www.twilio.com/docs/usage/security#validating-requests">Twilio's
 *     documentation</a>
 */
final class TwilioEventsScheme implements Scheme {
  @Override
  public boolean isSigned(Delivery delivery, Registration webhook) {
    String url = webhook.publicUrl();
    String signed =
        url
            + (url.contains("?") ? "&" : "?")
            + "bodySHA256="
            + Hashing.sha256().hashBytes(delivery.body().toByteArray());
    String expected = Hmac.sha1(webhook.signingSecret(), signed);
    return delivery
        .header("X-Twilio-Signature")
        .filter(given -> Hmac.matches(expected, given))
        .isPresent();
  }

  @Override
  public Optional<String> event(Delivery delivery) {
    return delivery.header("I-Twilio-Idempotency-Token");
  }
}
