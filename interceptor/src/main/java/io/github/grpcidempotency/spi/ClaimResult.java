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

  /**
   * The key's operation has ended.
   *
   * @param fingerprint the fingerprint of its request
   * @param procedure the name of its procedure
   * @param operationId the record's id
   * @param expires when the record expires
   * @param outcome the recorded answer
   * @param status the status of the asynchronous work: {@code COMPLETED} if the record referred to
   *     a resource that does not exist any more; empty if the store did not, or could not, read the
   *     status itself
   * @param trace the trace in the {@link ClaimRequest} of the run that produced the answer
   */
  record Recorded(
      Fingerprint fingerprint,
      String procedure,
      UUID operationId,
      Instant expires,
      RecordedOutcome outcome,
      Optional<IdempotencyStatus> status,
      Optional<ByteString> trace)
      implements ClaimResult {}
}
