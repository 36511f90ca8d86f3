package io.github.grpcidempotency.internal.decision;

import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.FailurePhase;
import io.github.grpcidempotency.store.StoreException;

/**
 * Decides what to do after a failure of the store. A call fails open only if no server accepts
 * connections at the store's address and nothing was sent. A store that answers, for example with a
 * refused login, a missing right or a read-only error, has no outage: it may serve other servers,
 * and the key may have an owner there. Contention, a timeout, a cut connection, an exhausted pool
 * and a caller without a shard are not outages either.
 *
 * <table>
 *   <caption>What happens to a call whose claim failed</caption>
 *   <tr><th>cause</th><th>nothing sent</th><th>answer lost</th><th>row seen</th></tr>
 *   <tr><td>no connection</td><td>the outage policy</td><td>unavailable</td><td>in progress</td></tr>
 *   <tr><td>read-only, broken</td><td>read the record; then unavailable</td><td>unavailable</td>
 *       <td>in progress</td></tr>
 *   <tr><td>contention</td><td colspan="3">retried in place, unless it was a locked row; then as in the next row</td></tr>
 *   <tr><td>any other</td><td>unavailable</td><td>unavailable</td><td>in progress</td></tr>
 * </table>
 */
public final class FailureDecider {
  /** How a store handles a failure before it gives up. */
  public enum Remedy {
    /** Try again a few times, because nothing was done. */
    TRY_AGAIN,
    /** Send the claim once more. If the first claim was done, the second finds it. */
    SEND_AGAIN,
    /** Read the record of the key, without writing. */
    FIND,
    /** Report the failure. */
    GIVE_UP
  }

  private FailureDecider() {}

  /** Returns how a store handles a failure. */
  public static Remedy remedy(FailurePhase phase, FailureCause cause) {
    return switch (cause) {
      case CONTENTION -> Remedy.TRY_AGAIN;
      case CONNECTION_LOST, SHUTTING_DOWN ->
          phase == FailurePhase.NOTHING_SENT ? Remedy.SEND_AGAIN : Remedy.GIVE_UP;
      case READ_ONLY, BROKEN -> phase == FailurePhase.NOTHING_SENT ? Remedy.FIND : Remedy.GIVE_UP;
      case NO_CONNECTION, NO_LOGIN, POOL_EXHAUSTED, TIMEOUT, NO_SHARD, OTHER -> Remedy.GIVE_UP;
    };
  }

  /** Returns the decision for a call after its store has given up the claim. */
  public static Decision decide(StoreException failure, OutagePolicy policy) {
    FailureCause cause = failure.failureCause();
    return switch (failure.phase()) {
      case NOTHING_SENT ->
          cause == FailureCause.NO_CONNECTION && policy == OutagePolicy.FAIL_OPEN
              ? new Decision.ExecuteUnguarded(failure)
              : unavailable(cause);
      case ANSWER_LOST, HANDLER_DONE -> unavailable(cause);
      case ROW_SEEN -> new Decision.Refuse(Refusal.inProgress());
    };
  }

  /**
   * Returns whether a failed write may still have been committed. This matters after a handler has
   * run, because its effect may have been committed.
   */
  public static boolean mayBeDone(FailureCause cause) {
    return switch (cause) {
      case CONNECTION_LOST, SHUTTING_DOWN, OTHER -> true;
      case NO_CONNECTION,
          NO_LOGIN,
          POOL_EXHAUSTED,
          READ_ONLY,
          CONTENTION,
          TIMEOUT,
          BROKEN,
          NO_SHARD ->
          false;
    };
  }

  /** Returns whether a cause is temporary, so that a retry may succeed even after a long time. */
  public static boolean passes(FailureCause cause) {
    return switch (cause) {
      case NO_CONNECTION,
          NO_LOGIN,
          POOL_EXHAUSTED,
          CONNECTION_LOST,
          SHUTTING_DOWN,
          READ_ONLY,
          CONTENTION,
          TIMEOUT ->
          true;
      case BROKEN, NO_SHARD, OTHER -> false;
    };
  }

  private static Decision unavailable(FailureCause cause) {
    return new Decision.Refuse(Refusal.storeUnavailable(cause));
  }
}
