package io.github.grpcidempotency.store;

import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.IdempotencyKey;
import java.time.Duration;

/**
 * A call's request for the right to run.
 *
 * @param key the operation, within its caller's scope
 * @param procedure the procedure that is called
 * @param fingerprint of the request; two requests are the same if their fingerprints are equal
 * @param retention how long the record will answer retries, even if the procedure's setting changes
 *     while the call runs
 */
public record ClaimRequest(
    IdempotencyKey key, RecordedProcedure procedure, Fingerprint fingerprint, Duration retention) {

  /** Returns whether a record of this procedure and fingerprint is of the same request. */
  public boolean isFor(String recordedProcedure, Fingerprint recorded) {
    return procedure.name().equals(recordedProcedure) && fingerprint.equals(recorded);
  }
}
