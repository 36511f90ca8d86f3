package io.github.grpcidempotency.example.service.webhook;

import static io.github.grpcidempotency.example.service.webhook.Deliveries.delivery;
import static io.github.grpcidempotency.example.service.webhook.Deliveries.webhook;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TwilioEventsSchemeTest {
  /** The test values of Twilio's own libraries. */
  private static final String TOKEN = "12345";

  private static final String BODY = "{\"property\": \"value\", \"boolean\": true}";
  private static final String URL = "https://mycompany.com/myapp.php";
  private static final String SIGNATURE = "y77kIzt2vzLz71DgmJGsen2scGs=";
  private static final String URL_WITH_QUERY = URL + "?foo=1&bar=2";
  private static final String SIGNATURE_WITH_QUERY = "a9nBmqA0ju/hNViExpshrM61xv4=";

  private static final String NAME = "9f3d3a4c-6b1e-4d52-8f0a-2f9f3a1f8b77";

  private final Scheme scheme = new TwilioEventsScheme();

  @Test
  void thePublishedExamplesAreSigned() {
    assertThat(isSigned(TOKEN, URL, BODY, SIGNATURE)).isTrue();
    assertThat(isSigned(TOKEN, URL_WITH_QUERY, BODY, SIGNATURE_WITH_QUERY)).isTrue();
  }

  @Test
  void anotherBodyUrlOrTokenIsNotSigned() {
    assertThat(isSigned(TOKEN, URL, BODY + " ", SIGNATURE)).isFalse();
    assertThat(isSigned(TOKEN, URL_WITH_QUERY, BODY, SIGNATURE)).isFalse();
    assertThat(isSigned("54321", URL, BODY, SIGNATURE)).isFalse();
  }

  @Test
  void noHeaderOrTwoOfThemOrAnotherOneSignNothing() {
    Registration webhook = webhook(Provider.TWILIO_EVENTS, TOKEN, URL);
    assertThat(scheme.isSigned(delivery(BODY), webhook)).isFalse();
    assertThat(
            scheme.isSigned(
                delivery(BODY, "X-Twilio-Signature", SIGNATURE, "X-Twilio-Signature", SIGNATURE),
                webhook))
        .isFalse();
    assertThat(isSigned(TOKEN, URL, BODY, "NOT" + SIGNATURE)).isFalse();
    assertThat(isSigned(TOKEN, URL, BODY, "")).isFalse();
  }

  @Test
  void theEventIsTheToken() {
    assertThat(scheme.event(delivery(BODY, "i-twilio-idempotency-token", NAME))).contains(NAME);
    assertThat(scheme.event(delivery(BODY))).isEmpty();
    assertThat(
            scheme.event(
                delivery(
                    BODY, "I-Twilio-Idempotency-Token", NAME, "I-Twilio-Idempotency-Token", "b")))
        .isEmpty();
  }

  private boolean isSigned(String token, String url, String body, String signature) {
    return scheme.isSigned(
        delivery(body, "X-Twilio-Signature", signature),
        webhook(Provider.TWILIO_EVENTS, token, url));
  }
}
