package io.github.grpcidempotency.example.service.webhook;

import static io.github.grpcidempotency.example.ProviderSignature.github;
import static io.github.grpcidempotency.example.service.webhook.Deliveries.delivery;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.FoundKey;
import io.github.grpcidempotency.key.MalformedKeyException;
import io.github.grpcidempotency.key.UnauthenticatedKeyException;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class WebhookKeysTest {
  private static final String SECRET = "a secret";
  private static final Registration WEBHOOK = Deliveries.webhook(Provider.GITHUB, SECRET);

  @Test
  void aKeyIsTheEventAfterItsProviderAndBelongsToTheWebhook() {
    assertThat(WebhookKeys.key(WEBHOOK, signed("d-1")))
        .contains(
            new FoundKey(
                "github:d-1",
                Optional.of(
                    Caller.of(new UUID(1, 2))
                        .inTenant("nasa")
                        .inProject("00000000-0000-0003-0000-000000000004"))));
  }

  @Test
  void anEventWithoutANameHasNoKey() {
    assertThat(
            WebhookKeys.key(
                WEBHOOK, delivery("body", "X-Hub-Signature-256", github(SECRET, "body"))))
        .isEmpty();
  }

  @Test
  void aNameThatNoKeyCanHaveIsMalformed() {
    for (String name : new String[] {"", "a:b", "a b", "é", "x".repeat(256)}) {
      assertThatExceptionOfType(MalformedKeyException.class)
          .as(name)
          .isThrownBy(() -> WebhookKeys.key(WEBHOOK, signed(name)));
    }
  }

  @Test
  void nothingIsReadOfADeliveryThatIsNotSigned() {
    assertThatExceptionOfType(UnauthenticatedKeyException.class)
        .isThrownBy(() -> WebhookKeys.key(WEBHOOK, delivery("body", "X-GitHub-Delivery", "a:b")));
  }

  @Test
  void theTextOfARegistrationDoesNotContainItsSecret() {
    assertThat(WEBHOOK.toString()).doesNotContain(SECRET);
  }

  @Test
  void opaqueIdsAreWellFormedAndDiffer() {
    assertThat(OpaqueId.isWellFormed(OpaqueId.create())).isTrue();
    assertThat(OpaqueId.create()).isNotEqualTo(OpaqueId.create());
    assertThat(OpaqueId.isWellFormed("whk_")).isFalse();
    assertThat(OpaqueId.isWellFormed(OpaqueId.create() + "\0")).isFalse();
  }

  private static Delivery signed(String name) {
    return delivery(
        "body", "X-Hub-Signature-256", github(SECRET, "body"), "X-GitHub-Delivery", name);
  }
}
