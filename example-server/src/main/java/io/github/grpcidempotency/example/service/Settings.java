package io.github.grpcidempotency.example.service;

import io.github.grpcidempotency.example.service.organization.CloudProvider;
import io.github.grpcidempotency.procedure.ResponseProtection;
import java.time.Duration;

/**
 * The settings of the service.
 *
 * @param lease the time for which the call of a crashed server blocks its key
 * @param outboxDelay the delay of the asynchronous work of a create, so that a person can see
 *     {@code processing}
 * @param sweepInterval the interval at which expired records are deleted
 * @param grace the time for which handlers may continue when the server stops
 * @param secrets encrypts recorded answers that contain a secret
 * @param cloud the provider that sells machines
 */
public record Settings(
    Duration lease,
    Duration outboxDelay,
    Duration sweepInterval,
    Duration grace,
    ResponseProtection secrets,
    CloudProvider cloud) {

  /** Returns the settings of the demo and of {@code serve}. */
  public static Settings of(ResponseProtection secrets, CloudProvider cloud) {
    return new Settings(
        Duration.ofSeconds(30),
        Duration.ofSeconds(1),
        Duration.ofHours(1),
        Duration.ofSeconds(5),
        secrets,
        cloud);
  }
}
