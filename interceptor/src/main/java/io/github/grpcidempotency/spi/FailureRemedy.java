package io.github.grpcidempotency.spi;

import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.FailurePhase;

/** How a store handles the failure of a claim before it reports the failure to the caller. */
public enum FailureRemedy {
  /** Try again a few times, because nothing was done. */
  TRY_AGAIN,
  /** Send the claim once more. If the first claim was done, the second finds it. */
  SEND_AGAIN,
  /** Read the record of the key, without writing. */
  FIND,
  /** Report the failure. */
  GIVE_UP;

  /** Returns how a store handles a failure. */
  public static FailureRemedy of(FailurePhase phase, FailureCause cause) {
    return switch (cause) {
      case CONTENTION -> TRY_AGAIN;
      case CONNECTION_LOST, SHUTTING_DOWN ->
          phase == FailurePhase.NOTHING_SENT ? SEND_AGAIN : GIVE_UP;
      case READ_ONLY, BROKEN -> phase == FailurePhase.NOTHING_SENT ? FIND : GIVE_UP;
      case NO_CONNECTION, NO_LOGIN, POOL_EXHAUSTED, TIMEOUT, OTHER -> GIVE_UP;
    };
  }
}
