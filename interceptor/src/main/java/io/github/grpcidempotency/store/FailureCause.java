package io.github.grpcidempotency.store;

import java.util.Locale;

/** Why a store failed, as far as that makes a difference to a call. */
public enum FailureCause {
  /** No connection could be made: the store is out of reach. */
  NO_CONNECTION,
  /** All connections are in use: the store is there, and so may be whoever has the key. */
  POOL_EXHAUSTED,
  /** A connection broke while it was used: what was sent may have been done. */
  CONNECTION_LOST,
  /** The store is being stopped or started. */
  SHUTTING_DOWN,
  /** The store takes no writes: a standby, a demoted primary, or told so. */
  READ_ONLY,
  /** Another transaction was in the way, and nothing was done: serialization, deadlock. */
  CONTENTION,
  /** A statement ran out of time, as it does behind somebody else's lock. */
  TIMEOUT,
  /** The store is broken for everybody: a right or a table is missing, the disk is full. */
  BROKEN,
  /** Anything else. */
  OTHER;

  /** Returns the cause as errors and logs name it. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
