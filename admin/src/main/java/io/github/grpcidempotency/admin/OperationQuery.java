package io.github.grpcidempotency.admin;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Which operations to list. What is empty does not restrict.
 *
 * @param states in one of these states; empty for all
 * @param procedure of this procedure
 * @param namespace of this tenant, or of this tenant and project
 * @param userId of this user
 * @param olderThan created at least so long ago
 * @param expiringWithin expiring within this time
 * @param after only those that follow this one in the list, to page through it
 * @param limit at most so many, from 1 to 1,000
 */
public record OperationQuery(
    Set<OperationState> states,
    Optional<String> procedure,
    Optional<String> namespace,
    Optional<UUID> userId,
    Optional<Duration> olderThan,
    Optional<Duration> expiringWithin,
    Optional<UUID> after,
    int limit) {}
