package io.github.grpcidempotency.spi;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/** The result of a claim. */
public sealed interface ClaimResult {

  /**
   * The caller of {@code claim} is now the only owner of the key.
   *
   * @param claim the claim, which must be settled
   */
  record Won(Claim claim) implements ClaimResult {}

  /**
   * Another call owns the key.
   *
   * @param fingerprint the fingerprint of the owner's request, if the store can see it
   * @param procedure the name of the owner's procedure, if the store can see it
   * @param operationId the id of the owner's operation, if the store can see it
   * @param leaseLeft how long the owner keeps the key if its server does not renew the lease; empty
   *     if the store cannot see it
   * @param outcomeUnknown whether the owner's handler has ended and it is unknown whether its
   *     effect happened
   */
  record InFlight(
      Optional<Fingerprint> fingerprint,
      Optional<String> procedure,
      Optional<UUID> operationId,
      Optional<Duration> leaseLeft,
      boolean outcomeUnknown)
      implements ClaimResult {

    /** Returns the result of a store that can see only that the key has an owner. */
    public static InFlight unseen() {
      return new InFlight(
          Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), false);
    }

    /** Returns whether the lease of the owner is known to have ended. */
    public boolean isAbandoned() {
      return leaseLeft.filter(Duration::isZero).isPresent();
    }
  }

  /** The key's operation has ended. Immutable: a method that sets a value returns a copy. */
  final class Recorded implements ClaimResult {
    private final UUID operationId;
    private final String procedure;
    private final Fingerprint fingerprint;
    private final RecordedOutcome outcome;
    private final Instant expires;
    private final Optional<IdempotencyStatus> status;
    private final Optional<ByteString> trace;

    private Recorded(
        UUID operationId,
        String procedure,
        Fingerprint fingerprint,
        RecordedOutcome outcome,
        Instant expires,
        Optional<IdempotencyStatus> status,
        Optional<ByteString> trace) {
      this.operationId = operationId;
      this.procedure = procedure;
      this.fingerprint = fingerprint;
      this.outcome = outcome;
      this.expires = expires;
      this.status = status;
      this.trace = trace;
    }

    /**
     * Returns a record without a status and without a trace.
     *
     * @param operationId the record's id
     * @param procedure the name of its procedure
     * @param fingerprint the fingerprint of its request
     * @param outcome the recorded answer
     * @param expires when the record expires
     */
    public static Recorded of(
        UUID operationId,
        String procedure,
        Fingerprint fingerprint,
        RecordedOutcome outcome,
        Instant expires) {
      return new Recorded(
          operationId,
          procedure,
          fingerprint,
          outcome,
          expires,
          Optional.empty(),
          Optional.empty());
    }

    /**
     * Sets the status of the asynchronous work: {@code COMPLETED} if the record referred to a
     * resource that does not exist any more; empty if the store did not, or could not, read the
     * status itself.
     */
    public Recorded withStatus(Optional<IdempotencyStatus> found) {
      return new Recorded(operationId, procedure, fingerprint, outcome, expires, found, trace);
    }

    /** Sets the trace in the {@link ClaimRequest} of the run that produced the answer. */
    public Recorded withTrace(Optional<ByteString> recorded) {
      return new Recorded(operationId, procedure, fingerprint, outcome, expires, status, recorded);
    }

    public UUID operationId() {
      return operationId;
    }

    public String procedure() {
      return procedure;
    }

    public Fingerprint fingerprint() {
      return fingerprint;
    }

    public RecordedOutcome outcome() {
      return outcome;
    }

    public Instant expires() {
      return expires;
    }

    public Optional<IdempotencyStatus> status() {
      return status;
    }

    public Optional<ByteString> trace() {
      return trace;
    }
  }
}
