package io.github.grpcidempotency.example.service.webhook;

import static io.github.grpcidempotency.example.ProviderSignature.github;
import static io.github.grpcidempotency.example.service.webhook.Deliveries.delivery;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GitHubSchemeTest {
  /** The test values in GitHub's documentation. */
  private static final String SECRET = "It's a Secret to Everybody";

  private static final String BODY = "Hello, World!";
  private static final String HEX =
      "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

  private static final String NAME = "72d3162e-cc78-11e3-81ab-4c9367dc0958";

  private final Scheme scheme = new GitHubScheme();

  @Test
  void theDocumentedExampleIsSigned() {
    assertThat(isSigned(BODY, "sha256=" + HEX)).isTrue();
    assertThat(github(SECRET, BODY)).isEqualTo("sha256=" + HEX);
  }

  @Test
  void aSignatureOfAnotherBodyOrWithAnotherSecretIsRefused() {
    assertThat(isSigned("Hello, World?", "sha256=" + HEX)).isFalse();
    assertThat(isSigned(BODY, github("It's a Secret to Nobody", BODY))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", HEX, "sha256=", "sha1=" + HEX, "sha256=" + HEX + "00", "sha256=zz"})
  void aMalformedHeaderIsNoSignature(String header) {
    assertThat(isSigned(BODY, header)).isFalse();
  }

  @Test
  void aMissingARepeatedAndAnOldHeaderIsNoSignature() {
    String signature = github(SECRET, BODY);
    assertThat(scheme.isSigned(delivery(BODY), SECRET)).isFalse();
    assertThat(scheme.isSigned(delivery(BODY, "X-Hub-Signature", signature), SECRET)).isFalse();
    assertThat(
            scheme.isSigned(
                delivery(BODY, "X-Hub-Signature-256", signature, "x-hub-signature-256", signature),
                SECRET))
        .isFalse();
  }

  @Test
  void theEventIsTheIdOfTheDelivery() {
    assertThat(scheme.event(delivery(BODY, "x-github-delivery", NAME))).contains(NAME);
    assertThat(scheme.event(delivery(BODY))).isEmpty();
    assertThat(scheme.event(delivery(BODY, "X-GitHub-Delivery", NAME, "X-GitHub-Delivery", NAME)))
        .isEmpty();
  }

  private boolean isSigned(String body, String header) {
    return scheme.isSigned(delivery(body, "X-Hub-Signature-256", header), SECRET);
  }
}
