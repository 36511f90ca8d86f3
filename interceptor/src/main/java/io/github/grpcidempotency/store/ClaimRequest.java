package io.github.grpcidempotency.store;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.IdempotencyKey;
import java.time.Duration;
import java.util.Optional;

/**
 * A call's request for the right to run.
 *
 * @param key the operation, within its caller's scope
 * @param procedure the procedure that is called
 * @param fingerprint of the request; two requests are the same if their fingerprints are equal
 * @param retention how long the record will answer retries, even if the procedure's setting changes
 *     while the call runs
 * @param trace the call's position in its trace, for whoever replays its answer; opaque to the
 *     store, which keeps it with the operation until another run takes over
 * @param retry whether the call says that it repeats an earlier one. A store may then look for the
 *     record before it tries to claim. The result is the same
 */
public record ClaimRequest(
    IdempotencyKey key,
    RecordedProcedure procedure,
    Fingerprint fingerprint,
    Duration retention,
    Optional<ByteString> trace,
    boolean retry) {
  /** The most that a trace may have, in bytes. */
  public static final int MAX_TRACE = 64;

  /**
   * Makes a request.
   *
   * @throws IllegalArgumentException if the trace is longer than {@link #MAX_TRACE}
   */
  public ClaimRequest {
    if (trace.filter(bytes -> bytes.size() > MAX_TRACE).isPresent()) {
      throw new IllegalArgumentException("a trace must have at most " + MAX_TRACE + " bytes");
    }
  }

  /** Makes a request of a call that does not say that it is a retry. */
  public ClaimRequest(
      IdempotencyKey key,
      RecordedProcedure procedure,
      Fingerprint fingerprint,
      Duration retention,
      Optional<ByteString> trace) {
    this(key, procedure, fingerprint, retention, trace, false);
  }

  /** Makes a request of a call that is not traced. */
  public ClaimRequest(
      IdempotencyKey key,
      RecordedProcedure procedure,
      Fingerprint fingerprint,
      Duration retention) {
    this(key, procedure, fingerprint, retention, Optional.empty());
  }

  /** Returns whether a record of this procedure and fingerprint is of the same request. */
  public boolean isFor(String recordedProcedure, Fingerprint recorded) {
    return procedure.name().equals(recordedProcedure) && fingerprint.equals(recorded);
  }
}
