package io.github.grpcidempotency.example.service.webhook;

import java.util.Optional;

/** How a provider signs its deliveries, and where it names the event. Stateless. */
sealed interface Scheme
    permits GitHubScheme, StripeScheme, TwilioEventsScheme, TwilioMessagingScheme {

  /** Returns whether a delivery is signed with the webhook's secret. */
  boolean isSigned(Delivery delivery, Registration webhook);

  /**
   * Returns the event's name, the same whenever it is delivered; asked of signed deliveries only.
   * Empty if the delivery has none.
   *
   * @throws io.github.grpcidempotency.key.MalformedKeyException if it is not one of the provider's
   */
  Optional<String> event(Delivery delivery);
}
