package io.github.grpcidempotency.example.service;

import io.github.grpcidempotency.example.service.organization.CloudProvider;
import io.github.grpcidempotency.example.service.organization.Retentions;
import io.github.grpcidempotency.procedure.ResponseProtection;
import java.time.Duration;

/**
 * How the service works.
 *
 * @param lease how long a crashed server's call blocks its key
 * @param outboxDelay how long the work behind a create rests before it is done
 * @param usagePeriod for how long a time usage is stated
 * @param retentions how long records answer retries, where it is otherwise than described
 * @param secrets keeps recorded answers that hold a secret
 * @param cloud where machines are bought; not closed with the service
 */
public record Settings(
    Duration lease,
    Duration outboxDelay,
    Duration usagePeriod,
    Retentions retentions,
    ResponseProtection secrets,
    CloudProvider cloud) {}
