package io.github.grpcidempotency.example.service.webhook;

import static io.github.grpcidempotency.example.ProviderSignature.stripe;
import static io.github.grpcidempotency.example.service.webhook.Deliveries.NOW;
import static io.github.grpcidempotency.example.service.webhook.Deliveries.delivery;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StripeSchemeTest {
  /** The payload and the secret that Stripe's own libraries are tested with. */
  private static final String BODY =
      """
      {
        "id": "evt_test_webhook",
        "object": "event"
      }""";

  private static final String SECRET = "whsec_test_secret";
  private static final long TIME = NOW.getEpochSecond();

  /** Computed with Python's hmac. */
  private static final String V1 =
      "c2f890decbc5ede7c5060bb9a6d31e0626a4342bacb9aeae2adb1bcea72f9812";

  private final Scheme scheme = new StripeScheme();

  @Test
  void aDeliverySignedAsDocumentedIsStripes() {
    assertThat(isSigned(BODY, "t=1492774577,v1=" + V1)).isTrue();
    assertThat(isSigned(BODY, "t=1492774577, v1=" + V1 + ",v0=" + "0".repeat(64))).isTrue();
    assertThat(stripe(SECRET, TIME, BODY)).isEqualTo("t=1492774577,v1=" + V1);
  }

  @Test
  void aHeadersNameIsTheSameInUpperAndLowerCase() {
    Delivery delivery = delivery(BODY, "stripe-SIGNATURE", stripe(SECRET, TIME, BODY));
    assertThat(scheme.isSigned(delivery, SECRET)).isTrue();
  }

  @Test
  void whileASecretIsRotatedOneValidSignatureIsEnough() {
    String another = "0".repeat(64);
    assertThat(isSigned(BODY, "t=1492774577,v1=" + another + ",v1=" + V1)).isTrue();
    assertThat(isSigned(BODY, "t=1492774577,v1=" + V1 + ",v1=" + another)).isTrue();
    assertThat(isSigned(BODY, "t=1492774577,v1=" + another + ",v1=" + another)).isFalse();
  }

  @Test
  void aSignatureIsAcceptedForFiveMinutes() {
    assertThat(isSigned(BODY, stripe(SECRET, TIME - 300, BODY))).isTrue();
    assertThat(isSigned(BODY, stripe(SECRET, TIME - 301, BODY))).isFalse();
    assertThat(isSigned(BODY, stripe(SECRET, TIME + 300, BODY))).isTrue();
    assertThat(isSigned(BODY, stripe(SECRET, TIME + 301, BODY))).isFalse();
  }

  @Test
  void theTimeIsSignedAsWell() {
    assertThat(isSigned(BODY, "t=1492774578,v1=" + V1)).isFalse();
  }

  @Test
  void aSignatureOfAnotherBodyOrWithAnotherSecretIsRefused() {
    assertThat(isSigned(BODY.replace("evt_test", "evt_text"), stripe(SECRET, TIME, BODY)))
        .isFalse();
    assertThat(isSigned(BODY, stripe("whsec_another_secret", TIME, BODY))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "v1=" + V1,
        "t=1492774577",
        "t=1492774577,v0=" + V1,
        "t=1492774577,t=1492774577,v1=" + V1,
        "t=,v1=" + V1,
        "t=now,v1=" + V1,
        "t=99999999999999999999,v1=" + V1,
        "t=1492774577,v1=",
        "t=1492774577;v1=" + V1
      })
  void aMalformedHeaderIsNoSignature(String header) {
    assertThat(isSigned(BODY, header)).isFalse();
  }

  @Test
  void aMissingAndARepeatedHeaderIsNoSignature() {
    String signature = stripe(SECRET, TIME, BODY);
    assertThat(scheme.isSigned(delivery(BODY), SECRET)).isFalse();
    assertThat(
            scheme.isSigned(
                delivery(BODY, "Stripe-Signature", signature, "stripe-signature", signature),
                SECRET))
        .isFalse();
  }

  @Test
  void theEventIsTheIdOfTheBody() {
    assertThat(scheme.event(delivery(BODY))).contains("evt_test_webhook");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "{}",
        "[]",
        "null",
        "\"evt_1\"",
        "{\"id\": 1}",
        "{\"id\": null}",
        "{\"id\": {\"id\": \"evt_1\"}}",
        "{\"object\": {\"id\": \"evt_1\"}}",
        "id=evt_1"
      })
  void aBodyWithoutAnIdHasNoEvent(String body) {
    assertThat(scheme.event(delivery(body))).isEmpty();
  }

  private boolean isSigned(String body, String header) {
    return scheme.isSigned(delivery(body, "Stripe-Signature", header), SECRET);
  }
}
