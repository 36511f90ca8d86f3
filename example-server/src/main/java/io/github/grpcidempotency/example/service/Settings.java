package io.github.grpcidempotency.example.service;

import io.github.grpcidempotency.example.service.organization.CloudProvider;
import io.github.grpcidempotency.example.service.organization.Retentions;
import io.github.grpcidempotency.procedure.ResponseProtection;
import java.time.Duration;

/**
 * The settings of the service.
 *
 * @param lease how long a crashed server's call blocks its key
 * @param outboxDelay how long the work behind a create is delayed
 * @param usagePeriod how long the period of a usage statement is
 * @param retentions how long records answer retries, if not as the procedures say
 * @param secrets protects recorded answers that contain a secret
 * @param cloud where machines are bought; not closed with the service
 * @param sweepInterval how often expired records are swept
 * @param grace how long handlers may continue when the server stops
 */
public record Settings(
    Duration lease,
    Duration outboxDelay,
    Duration usagePeriod,
    Retentions retentions,
    ResponseProtection secrets,
    CloudProvider cloud,
    Duration sweepInterval,
    Duration grace) {
  private static final Duration HOURLY = Duration.ofHours(1);
  private static final Duration GRACE = Duration.ofSeconds(5);

  /** Sweeps every hour, and has a grace of five seconds for handlers when the server stops. */
  public Settings(
      Duration lease,
      Duration outboxDelay,
      Duration usagePeriod,
      Retentions retentions,
      ResponseProtection secrets,
      CloudProvider cloud) {
    this(lease, outboxDelay, usagePeriod, retentions, secrets, cloud, HOURLY, GRACE);
  }
}
