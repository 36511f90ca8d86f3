package io.github.grpcidempotency.event;

import io.github.grpcidempotency.store.StoreException;
import java.util.UUID;

/**
 * Receives events, for metrics and logs. No event carries a key, a request or a response.
 *
 * <p>Called on the threads that serve calls, on the executor that resumes waiting calls, and on the
 * library's own threads that renew leases and record answers in the background: return quickly.
 * Whatever a listener throws is logged and otherwise ignored. Each method says when it is called;
 * an event that is lost in a crash is not delivered again.
 */
public interface IdempotencyListener {
  /**
   * A call has won its claim, and its handler is about to run. The claim is committed, unless it is
   * transactional.
   */
  default void claimed(String procedure, UUID operationId) {}

  /** A recorded outcome was read and is about to be replayed. */
  default void replayed(String procedure, UUID operationId) {}

  /** A duplicate began to wait for the call that holds its key. */
  default void attached(String procedure) {}

  /** A call is about to be refused. Its handler has not run, or its effect does not count. */
  default void refused(String procedure, RefusalReason reason) {}

  /** A claim was settled, and the store has committed it; the answer has not been sent yet. */
  default void settled(String procedure, UUID operationId, Settlement settlement) {}

  /** A call that carries a key runs, or ran, without the protection of the store. */
  default void unprotected(String procedure, UnprotectedCause cause) {}

  /** An owner found that it no longer owns its key. It has changed nothing. */
  default void leaseLost(UUID operationId) {}

  /** An answer could not be recorded. It is retried in the background, within limits. */
  default void recordingDeferred(UUID operationId, StoreException cause) {}

  /** A deferred answer has been recorded. */
  default void recordedLate(UUID operationId) {}

  /**
   * The library has given up recording an answer whose effect has happened: recording failed too
   * often or for too long, too many answers were waiting, or the interceptor was closed. Once the
   * lease has ended, a retry runs the handler again.
   */
  default void recordingAbandoned(UUID operationId, StoreException cause) {}
}
