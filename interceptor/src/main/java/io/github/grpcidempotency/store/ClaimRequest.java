package io.github.grpcidempotency.store;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.IdempotencyKey;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The request of a call to own its key.
 *
 * @param key the operation, within its caller's scope
 * @param procedure the procedure that is called
 * @param fingerprint the fingerprint of the request; two requests are the same if their
 *     fingerprints are equal
 * @param retention how long the record will answer retries, even if the procedure's setting changes
 *     while the call runs
 * @param trace the call's position in its trace, for the listeners of a replay; opaque bytes, which
 *     the store keeps with the operation until another run takes over
 * @param retry whether the call is marked as a retry. A store may then look for a record before it
 *     tries to claim. The result is the same
 * @param gone returns whether nobody waits for the call's answer any more. A store may then drop a
 *     claim that it has not sent. Called by any thread; must not block
 */
public record ClaimRequest(
    IdempotencyKey key,
    RecordedProcedure procedure,
    Fingerprint fingerprint,
    Duration retention,
    Optional<ByteString> trace,
    boolean retry,
    BooleanSupplier gone) {
  /** The maximum length of a trace, in bytes. */
  public static final int MAX_TRACE = 64;

  /**
   * Creates the request of a call whose answer is always awaited.
   *
   * @throws IllegalArgumentException if the trace is longer than {@link #MAX_TRACE}
   */
  public ClaimRequest(
      IdempotencyKey key,
      RecordedProcedure procedure,
      Fingerprint fingerprint,
      Duration retention,
      Optional<ByteString> trace,
      boolean retry) {
    this(key, procedure, fingerprint, retention, trace, retry, ClaimRequest::never);
  }

  /**
   * Creates a request.
   *
   * @throws IllegalArgumentException if the trace is longer than {@link #MAX_TRACE}
   */
  public ClaimRequest {
    if (trace.filter(bytes -> bytes.size() > MAX_TRACE).isPresent()) {
      throw new IllegalArgumentException("a trace must have at most " + MAX_TRACE + " bytes");
    }
  }

  /** Returns whether a record with this procedure and fingerprint belongs to the same request. */
  public boolean isFor(String recordedProcedure, Fingerprint recorded) {
    return procedure.name().equals(recordedProcedure) && fingerprint.equals(recorded);
  }

  private static boolean never() {
    return false;
  }

  /** Returns the same request, of a call that may stop waiting for its answer. */
  public ClaimRequest unless(BooleanSupplier itIsGone) {
    return new ClaimRequest(key, procedure, fingerprint, retention, trace, retry, itIsGone);
  }
}
