package io.github.grpcidempotency.store;

import io.github.grpcidempotency.decision.KeyState;
import io.github.grpcidempotency.procedure.IdempotencyStatus;
import java.time.Instant;
import java.util.UUID;

/** What a claim came to. */
public sealed interface ClaimResult {
  /** Returns the facts that decide over the call. */
  KeyState standing();

  /**
   * The caller of {@code claim} is now the only owner of the key.
   *
   * @param claim the right to run and the duty to settle
   */
  record Won(Claim claim) implements ClaimResult {
    @Override
    public KeyState standing() {
      return new KeyState.Free();
    }
  }

  /**
   * Somebody else owns the key.
   *
   * @param standing what is known of the owner
   */
  record InFlight(KeyState.InFlight standing) implements ClaimResult {}

  /**
   * The key's operation has ended.
   *
   * @param standing what it was
   * @param operationId the record's id
   * @param expires until when the record answers retries
   * @param outcome the recorded answer, as it is kept: see {@link ClaimRequest#open}
   * @param status how far the work behind it has come
   */
  record Recorded(
      KeyState.Recorded standing,
      UUID operationId,
      Instant expires,
      RecordedOutcome outcome,
      IdempotencyStatus status)
      implements ClaimResult {}

  /**
   * The store gave no answer. Made by the caller of a store, never by one.
   *
   * @param cause what the store threw
   */
  record Unanswered(StoreException cause) implements ClaimResult {
    @Override
    public KeyState standing() {
      return new KeyState.Unanswered(cause.phase(), cause.failureCause());
    }
  }
}
