package io.github.grpcidempotency.example.service;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.example.service.organization.CloudProvider;
import io.github.grpcidempotency.procedure.ResponseProtection;
import java.time.Duration;

/**
 * The settings of the service.
 *
 * <p>Log lines name keys, users and tenants only by hashes with a secret.
 *
 * @param lease the time for which the call of a crashed server blocks its key
 * @param outboxDelay the delay of the asynchronous work of a create, so that a person can see
 *     {@code processing}
 * @param sweepInterval the interval at which expired records are deleted
 * @param figuresInterval the interval at which the figures of the database are read for metrics
 * @param grace the time for which handlers may continue when the server stops
 * @param secrets encrypts recorded answers that contain a secret
 * @param logSecret the secret of these hashes, the same on all servers; at least 16 bytes
 * @param cloud the provider that sells machines
 */
public record Settings(
    Duration lease,
    Duration outboxDelay,
    Duration sweepInterval,
    Duration figuresInterval,
    Duration grace,
    ResponseProtection secrets,
    ByteString logSecret,
    CloudProvider cloud) {

  /** Returns the settings of the demo and of {@code serve}. */
  public static Settings of(
      Duration lease, ResponseProtection secrets, ByteString logSecret, CloudProvider cloud) {
    return new Settings(
        lease,
        Duration.ofSeconds(1),
        Duration.ofHours(1),
        Duration.ofSeconds(30),
        Duration.ofSeconds(5),
        secrets,
        logSecret,
        cloud);
  }
}
