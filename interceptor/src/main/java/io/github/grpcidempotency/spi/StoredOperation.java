package io.github.grpcidempotency.spi;

import io.github.grpcidempotency.key.IdempotencyKey;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * An operation with its record.
 *
 * @param created when its key was claimed
 * @param answered when its answer was recorded; empty if it has none yet
 * @param standing the recorded outcome, or the state of the running call
 */
public record StoredOperation(
    UUID id,
    IdempotencyKey key,
    String procedure,
    Instant created,
    Optional<Instant> answered,
    ClaimResult standing) {}
