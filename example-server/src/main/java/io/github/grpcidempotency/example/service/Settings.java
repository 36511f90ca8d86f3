package io.github.grpcidempotency.example.service;

import io.github.grpcidempotency.example.service.organization.CloudProvider;
import io.github.grpcidempotency.procedure.ResponseProtection;
import java.time.Duration;

/**
 * The settings of the service.
 *
 * @param lease how long the call of a crashed server blocks its key
 * @param outboxDelay how long the work behind a create is delayed, so that a human sees {@code
 *     processing}
 * @param usagePeriod how long the period of a usage statement is
 * @param sweepInterval how often expired records are deleted
 * @param grace how long handlers may continue when the server stops
 * @param secrets encrypts recorded answers that contain a secret
 * @param cloud where machines are bought
 */
public record Settings(
    Duration lease,
    Duration outboxDelay,
    Duration usagePeriod,
    Duration sweepInterval,
    Duration grace,
    ResponseProtection secrets,
    CloudProvider cloud) {

  /** Returns the settings of the demo and of {@code serve}. */
  public static Settings of(ResponseProtection secrets, CloudProvider cloud) {
    return new Settings(
        Duration.ofSeconds(30),
        Duration.ofSeconds(1),
        Duration.ofDays(1),
        Duration.ofHours(1),
        Duration.ofSeconds(5),
        secrets,
        cloud);
  }
}
