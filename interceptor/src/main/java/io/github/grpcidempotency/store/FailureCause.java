package io.github.grpcidempotency.store;

import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.spi.FailureRemedy;
import java.util.Locale;

/** The reason of a store failure, as far as it matters to a call. */
public enum FailureCause {
  /** No server accepts connections at any of the store's addresses. */
  NO_CONNECTION,
  /**
   * The store could be reached but opened no session: it refused the login, closed the connection
   * or did not answer in time. Other servers may still have sessions, so the key may have an owner.
   */
  NO_LOGIN,
  /** The store's servers answer, but none of them is a primary. */
  NO_PRIMARY,
  /** All connections of the pool are in use. The store works, and the key may have an owner. */
  POOL_EXHAUSTED,
  /** A connection broke while it was used. The statement may have been executed. */
  CONNECTION_LOST,
  /** The store is being stopped or started. */
  SHUTTING_DOWN,
  /** The store accepts no writes: it is a standby, a demoted primary, or set to read-only. */
  READ_ONLY,
  /**
   * The transaction conflicted with another transaction, and nothing was done: serialization
   * failure, deadlock, or a row that stayed locked for longer than {@code lock_timeout}.
   */
  CONTENTION,
  /** A statement timed out. */
  TIMEOUT,
  /** The store cannot serve any call: a right or a table is missing, or the disk is full. */
  BROKEN,
  /** Any other reason. */
  OTHER;

  /**
   * Returns whether a failed write may still have been committed. This matters after a handler has
   * run, because its effect may have been committed.
   */
  public boolean mayBeDone() {
    return switch (this) {
      case CONNECTION_LOST, SHUTTING_DOWN, OTHER -> true;
      case NO_CONNECTION,
          NO_LOGIN,
          NO_PRIMARY,
          POOL_EXHAUSTED,
          READ_ONLY,
          CONTENTION,
          TIMEOUT,
          BROKEN ->
          false;
    };
  }

  /** Returns whether the cause is temporary, so that a retry may succeed even after a long time. */
  public boolean isTemporary() {
    return switch (this) {
      case NO_CONNECTION,
          NO_LOGIN,
          NO_PRIMARY,
          POOL_EXHAUSTED,
          CONNECTION_LOST,
          SHUTTING_DOWN,
          READ_ONLY,
          CONTENTION,
          TIMEOUT ->
          true;
      case BROKEN, OTHER -> false;
    };
  }

  /** Returns how a store handles such a failure of a claim. For implementations of stores. */
  public FailureRemedy remedy(FailurePhase phase) {
    boolean nothingSent = phase == FailurePhase.NOTHING_SENT;
    return switch (this) {
      case CONTENTION -> FailureRemedy.TRY_AGAIN;
      case CONNECTION_LOST, SHUTTING_DOWN ->
          nothingSent ? FailureRemedy.SEND_AGAIN : FailureRemedy.GIVE_UP;
      case READ_ONLY, BROKEN -> nothingSent ? FailureRemedy.FIND : FailureRemedy.GIVE_UP;
      case NO_CONNECTION, NO_LOGIN, NO_PRIMARY, POOL_EXHAUSTED, TIMEOUT, OTHER ->
          FailureRemedy.GIVE_UP;
    };
  }

  /** Returns the name of the cause in errors and logs. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
