package io.github.grpcidempotency.store;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.procedure.IdempotencyStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/** The result of a claim. */
public sealed interface ClaimResult {

  /**
   * Handles each kind of result. A new kind does not compile until every visitor handles it.
   *
   * @param <T> what the visitor returns
   */
  interface Visitor<T> {
    T won(Won won);

    T inFlight(InFlight inFlight);

    T recorded(Recorded recorded);

    T unanswered(Unanswered unanswered);
  }

  /** Returns what a visitor returns for this result. */
  <T> T accept(Visitor<T> visitor);

  /**
   * The caller of {@code claim} is now the only owner of the key.
   *
   * @param claim the right to run and the duty to settle
   */
  record Won(Claim claim) implements ClaimResult {
    @Override
    public <T> T accept(Visitor<T> visitor) {
      return visitor.won(this);
    }
  }

  /**
   * Somebody else owns the key.
   *
   * @param fingerprint the fingerprint of the owner's request, if the store can see it
   * @param procedure the name of the owner's procedure, if the store can see it
   * @param operationId the id of the owner's operation, if the store can see it
   * @param leaseLeft how long the owner keeps the key unless its server renews the lease; empty if
   *     the store cannot see it
   * @param outcomeUnknown whether the owner's handler has ended and it is not known whether its
   *     effect happened
   */
  record InFlight(
      Optional<Fingerprint> fingerprint,
      Optional<String> procedure,
      Optional<UUID> operationId,
      Optional<Duration> leaseLeft,
      boolean outcomeUnknown)
      implements ClaimResult {

    /** Makes the result of a store that can see only that somebody owns the key. */
    public static InFlight unseen() {
      return new InFlight(
          Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), false);
    }

    /** Returns whether the owner is known to have let its lease end. */
    public boolean isAbandoned() {
      return leaseLeft.filter(Duration::isZero).isPresent();
    }

    @Override
    public <T> T accept(Visitor<T> visitor) {
      return visitor.inFlight(this);
    }
  }

  /**
   * The key's operation has ended.
   *
   * @param fingerprint of its request
   * @param procedure the name of its procedure
   * @param operationId the record's id
   * @param expires until when the record answers retries
   * @param outcome the recorded answer
   * @param status how far the work behind it has come: {@code COMPLETED} if the record referred to
   *     a resource that is gone; otherwise empty if the store has not asked the procedure's
   *     resolver, or could not
   * @param trace the trace of the run that made the answer, as it was in its {@link ClaimRequest}
   */
  record Recorded(
      Fingerprint fingerprint,
      String procedure,
      UUID operationId,
      Instant expires,
      RecordedOutcome outcome,
      Optional<IdempotencyStatus> status,
      Optional<ByteString> trace)
      implements ClaimResult {

    @Override
    public <T> T accept(Visitor<T> visitor) {
      return visitor.recorded(this);
    }
  }

  /**
   * The store gave no answer. Made by the caller of a store, never by a store.
   *
   * @param cause what the store threw
   */
  record Unanswered(StoreException cause) implements ClaimResult {
    @Override
    public <T> T accept(Visitor<T> visitor) {
      return visitor.unanswered(this);
    }
  }
}
