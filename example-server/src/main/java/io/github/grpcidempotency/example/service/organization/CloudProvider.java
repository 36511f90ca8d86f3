package io.github.grpcidempotency.example.service.organization;

import java.time.Duration;
import java.util.UUID;

/**
 * Stands in for a cloud provider's API: something outside the database that takes its time. Like
 * any API worth calling from a handler that may be run twice, it takes a token, and does nothing
 * more for one that it has seen.
 */
public final class CloudProvider {
  private final Duration delay;

  /** Makes a provider that answers after a while. */
  public CloudProvider(Duration delay) {
    this.delay = delay;
  }

  /**
   * Reserves capacity. Blocks while the provider takes its time.
   *
   * @param token names the reservation: the operation's id, the same on every retry
   */
  void reserve(String region, UUID token) {
    try {
      Thread.sleep(delay.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(
          "reservation %s in %s was interrupted".formatted(token, region), e);
    }
  }
}
