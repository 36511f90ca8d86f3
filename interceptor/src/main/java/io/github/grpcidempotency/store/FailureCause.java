package io.github.grpcidempotency.store;

import java.util.Locale;

/** Why a store failed, as far as it matters to a call. */
public enum FailureCause {
  /** Nobody accepts connections at the store's address: the store is out of reach. */
  NO_CONNECTION,
  /**
   * The store was reached and opened no session: it refused the login, cut the connection or did
   * not answer in time. Other servers may still have sessions, so the key may have a live owner.
   */
  NO_LOGIN,
  /** All connections are in use: the store works, and the key may have a live owner. */
  POOL_EXHAUSTED,
  /** A connection broke while it was used: what was sent may have been done. */
  CONNECTION_LOST,
  /** The store is being stopped or started. */
  SHUTTING_DOWN,
  /** The store takes no writes: it is a standby, a demoted primary, or set to read-only. */
  READ_ONLY,
  /**
   * The transaction conflicted with another transaction, and nothing was done: serialization
   * failure, deadlock, or a row that stayed locked for longer than {@code lock_timeout}.
   */
  CONTENTION,
  /** A statement timed out. */
  TIMEOUT,
  /** The store is broken for everybody: a right or a table is missing, the disk is full. */
  BROKEN,
  /** The caller has no shard of a {@link ShardedStore}, so no store may know the key. */
  NO_SHARD,
  /** Anything else. */
  OTHER;

  /** Returns the cause as errors and logs name it. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
