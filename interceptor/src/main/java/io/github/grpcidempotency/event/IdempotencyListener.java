package io.github.grpcidempotency.event;

import io.github.grpcidempotency.store.StoreException;
import java.util.UUID;

/**
 * Hears of what happens, for metrics and logs. No event carries a key, a request or a response.
 *
 * <p>Called on the threads that serve calls, on which waiting calls go on, and on the library's own
 * that renew leases and record late: return quickly. What a listener throws is logged and otherwise
 * ignored. Each event says when it comes; none is delivered again after a crash.
 */
public interface IdempotencyListener {
  /** A claim has won and is committed, unless transactional: the handler is about to run. */
  default void claimed(String procedure, UUID operationId) {}

  /** A recorded outcome was read and is about to be sent again. */
  default void replayed(String procedure, UUID operationId) {}

  /** A duplicate began to wait for the call that holds its key. */
  default void attached(String procedure) {}

  /** A call is about to be refused; nothing of it has run, or nothing of it counts. */
  default void refused(String procedure, RefusalReason reason) {}

  /** A claim was settled, and the store has committed it; the answer has not been sent yet. */
  default void settled(String procedure, UUID operationId, Settlement settlement) {}

  /** A call that carries a key runs, or ran, without the protection of the store. */
  default void unprotected(String procedure, UnprotectedCause cause) {}

  /** An owner found that it owns its key no more; it changed nothing. */
  default void leaseLost(UUID operationId) {}

  /** An answer could not be recorded; it will be tried again, for a while. */
  default void recordingDeferred(UUID operationId, StoreException cause) {}

  /** A deferred answer is recorded now. */
  default void recordedLate(UUID operationId) {}

  /**
   * An answer is given up whose effect has happened: recording it failed too often or for too long,
   * too many were waiting, or the interceptor was closed. Once its lease has ended, a retry runs
   * the handler again.
   */
  default void recordingAbandoned(UUID operationId, StoreException cause) {}
}
