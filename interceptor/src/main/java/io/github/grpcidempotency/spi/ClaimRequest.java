package io.github.grpcidempotency.spi;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.IdempotencyKey;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** The request of a call to own its key. Immutable: a method that sets a value returns a copy. */
public final class ClaimRequest {
  /** The maximum length of a trace, in bytes. */
  public static final int MAX_TRACE = 64;

  private final IdempotencyKey key;
  private final RecordedProcedure procedure;
  private final Fingerprint fingerprint;
  private final Duration retention;
  private final Optional<ByteString> trace;
  private final boolean retry;
  private final BooleanSupplier gone;

  private ClaimRequest(
      IdempotencyKey key,
      RecordedProcedure procedure,
      Fingerprint fingerprint,
      Duration retention,
      Optional<ByteString> trace,
      boolean retry,
      BooleanSupplier gone) {
    this.key = key;
    this.procedure = procedure;
    this.fingerprint = fingerprint;
    this.retention = retention;
    this.trace = trace;
    this.retry = retry;
    this.gone = gone;
  }

  /**
   * Returns a request whose record is retained for a day, without a trace, which is no retry, and
   * whose answer is always awaited.
   *
   * @param key the operation, within its caller's scope
   * @param procedure the procedure that is called
   * @param fingerprint the fingerprint of the request; two requests are the same if their
   *     fingerprints are equal
   */
  public static ClaimRequest of(
      IdempotencyKey key, RecordedProcedure procedure, Fingerprint fingerprint) {
    return new ClaimRequest(
        key,
        procedure,
        fingerprint,
        Duration.ofDays(1),
        Optional.empty(),
        false,
        ClaimRequest::never);
  }

  /**
   * Sets how long the record will answer retries, even if the procedure's setting changes while the
   * call runs.
   */
  public ClaimRequest retainedFor(Duration time) {
    return new ClaimRequest(key, procedure, fingerprint, time, trace, retry, gone);
  }

  /**
   * Sets the call's position in its trace, for the listeners of a replay: opaque bytes, which the
   * store keeps with the operation until another run takes over.
   *
   * @throws IllegalArgumentException if the trace is longer than {@link #MAX_TRACE}
   */
  public ClaimRequest tracedBy(Optional<ByteString> position) {
    if (position.filter(bytes -> bytes.size() > MAX_TRACE).isPresent()) {
      throw new IllegalArgumentException("a trace must have at most " + MAX_TRACE + " bytes");
    }
    return new ClaimRequest(key, procedure, fingerprint, retention, position, retry, gone);
  }

  /**
   * Sets whether the call is marked as a retry. A store may then look for a record before it tries
   * to claim. The result is the same.
   */
  public ClaimRequest markedAsRetry(boolean marked) {
    return new ClaimRequest(key, procedure, fingerprint, retention, trace, marked, gone);
  }

  /**
   * Sets a function that returns whether nobody waits for the call's answer any more. A store may
   * then drop a claim that it has not sent. Called by any thread; must not block.
   */
  public ClaimRequest unless(BooleanSupplier itIsGone) {
    return new ClaimRequest(key, procedure, fingerprint, retention, trace, retry, itIsGone);
  }

  public IdempotencyKey key() {
    return key;
  }

  public RecordedProcedure procedure() {
    return procedure;
  }

  public Fingerprint fingerprint() {
    return fingerprint;
  }

  public Duration retention() {
    return retention;
  }

  public Optional<ByteString> trace() {
    return trace;
  }

  public boolean retry() {
    return retry;
  }

  /** Returns the function that {@link #unless} has set. */
  public BooleanSupplier gone() {
    return gone;
  }

  /** Returns whether a record with this procedure and fingerprint belongs to the same request. */
  public boolean isFor(String recordedProcedure, Fingerprint recorded) {
    return procedure.name().equals(recordedProcedure) && fingerprint.equals(recorded);
  }

  private static boolean never() {
    return false;
  }
}
