package io.github.grpcidempotency.example.service.webhook;

import io.github.grpcidempotency.example.organization.v1.WebhookProvider;
import java.util.Arrays;
import java.util.Optional;

/** The providers that deliver webhooks. */
public enum Provider {
  STRIPE("stripe", WebhookProvider.STRIPE),
  GITHUB("github", WebhookProvider.GITHUB),
  TWILIO_EVENTS("twilio-events", WebhookProvider.TWILIO_EVENTS),
  TWILIO_MESSAGING("twilio-messaging", WebhookProvider.TWILIO_MESSAGING);

  private final String word;
  private final WebhookProvider inApi;

  Provider(String word, WebhookProvider inApi) {
    this.word = word;
    this.inApi = inApi;
  }

  /** Returns the provider that a request names, if it names one. */
  public static Optional<Provider> of(WebhookProvider inApi) {
    return Arrays.stream(values()).filter(provider -> provider.inApi == inApi).findFirst();
  }

  /**
   * Returns the provider of a stored word.
   *
   * @throws IllegalArgumentException if there is no such provider
   */
  public static Provider of(String word) {
    return Arrays.stream(values())
        .filter(provider -> provider.word.equals(word))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("there is no provider " + word));
  }

  /** Returns the word that is stored in rows, and with which keys begin. */
  public String word() {
    return word;
  }

  /** Returns whether the provider signs the URL it delivers to. */
  public boolean signsUrl() {
    return this == TWILIO_EVENTS || this == TWILIO_MESSAGING;
  }

  Scheme scheme() {
    return switch (this) {
      case STRIPE -> new StripeScheme();
      case GITHUB -> new GitHubScheme();
      case TWILIO_EVENTS -> new TwilioEventsScheme();
      case TWILIO_MESSAGING -> new TwilioMessagingScheme();
    };
  }
}
