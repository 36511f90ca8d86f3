package io.github.grpcidempotency.internal.record;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.github.grpcidempotency.internal.decision.RequestMatch;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedProcedure;
import java.time.Duration;
import java.util.Optional;

/**
 * A call, or a piece of work, with a key: the request to the store, and the data that the store
 * does not need. Immutable.
 *
 * @param fingerprint the request's fingerprint under the newest rules
 * @param message the request itself, for comparison with records under older rules
 * @param retry whether the call repeats an earlier call, or has already found another call with its
 *     key. It is then claimed before its handler, and the store looks for a record first
 */
public record KeyedRequest(
    IdempotencyKey key,
    Procedure procedure,
    Fingerprint fingerprint,
    Message message,
    Duration retention,
    Optional<ByteString> trace,
    boolean retry) {

  public static KeyedRequest of(
      IdempotencyKey key,
      Procedure procedure,
      Message message,
      Optional<ByteString> trace,
      boolean retry) {
    return new KeyedRequest(
        key,
        procedure,
        procedure.fingerprinter().fingerprint(message),
        message,
        procedure.retention(),
        trace,
        retry);
  }

  /**
   * Returns the request of the same call, marked as a retry because it has found another call with
   * its key.
   */
  public KeyedRequest again() {
    return retry
        ? this
        : new KeyedRequest(key, procedure, fingerprint, message, retention, trace, true);
  }

  public ClaimRequest claimRequest() {
    return claimRequest(fingerprint);
  }

  public RequestMatch compare(Fingerprint recorded) {
    if (!procedure.fingerprinter().knows(recorded)) {
      return RequestMatch.INCOMPARABLE;
    }
    boolean same =
        fingerprint.version() == recorded.version()
            ? fingerprint.matches(recorded)
            : procedure.fingerprinter().matches(message, recorded);
    return same ? RequestMatch.SAME : RequestMatch.OTHER;
  }

  /**
   * Returns a request that takes over an abandoned reservation of the same request which was made
   * under an older version of the fingerprint's rules; empty if there is no such reservation.
   */
  public Optional<ClaimRequest> takeOverOfOlderVersion(ClaimResult met) {
    return met instanceof ClaimResult.InFlight inFlight
            && inFlight.isAbandoned()
            && inFlight.procedure().filter(procedure.name()::equals).isPresent()
        ? inFlight
            .fingerprint()
            .filter(recorded -> recorded.version() < fingerprint.version())
            .filter(recorded -> compare(recorded) == RequestMatch.SAME)
            .map(this::claimRequest)
        : Optional.empty();
  }

  private ClaimRequest claimRequest(Fingerprint under) {
    return ClaimRequest.of(key, RecordedProcedure.of(procedure), under)
        .retainedFor(retention)
        .tracedBy(trace)
        .markedAsRetry(retry);
  }
}
