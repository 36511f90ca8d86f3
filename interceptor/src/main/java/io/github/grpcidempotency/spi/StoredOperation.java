package io.github.grpcidempotency.spi;

import io.github.grpcidempotency.key.IdempotencyKey;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * An operation with its record.
 *
 * @param standing the recorded outcome, or the state of the running call, with the operation's id
 *     and procedure
 * @param created when its key was claimed
 * @param answered when its answer was recorded; empty if it has none yet
 */
public record StoredOperation(
    IdempotencyKey key, ClaimResult standing, Instant created, Optional<Instant> answered) {
  public UUID id() {
    return standing instanceof ClaimResult.Recorded recorded
        ? recorded.operationId()
        : ((ClaimResult.InFlight) standing).operationId().orElseThrow();
  }

  public String procedure() {
    return standing instanceof ClaimResult.Recorded recorded
        ? recorded.procedure()
        : ((ClaimResult.InFlight) standing).procedure().orElseThrow();
  }
}
