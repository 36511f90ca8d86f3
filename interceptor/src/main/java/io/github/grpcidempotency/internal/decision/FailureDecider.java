package io.github.grpcidempotency.internal.decision;

import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import java.util.Optional;

/**
 * Decides what to do after a failure of the store. A call fails open only if no server accepts
 * connections at any of the store's addresses and nothing was sent. A store that answers, for
 * example with a refused login, a missing right or a read-only error, has no outage: it may serve
 * other servers, and the key may have an owner there. Contention, a timeout, a cut connection and
 * an exhausted pool are not outages either.
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
  private FailureDecider() {}

  /**
   * Returns the refusal of a call whose store has given up the claim; empty if the call runs
   * unprotected.
   */
  public static Optional<Refusal> decide(StoreException failure, OutagePolicy policy) {
    FailureCause cause = failure.failureCause();
    return switch (failure.phase()) {
      case NOTHING_SENT ->
          cause == FailureCause.NO_CONNECTION && policy == OutagePolicy.FAIL_OPEN
              ? Optional.empty()
              : unavailable(cause);
      case ANSWER_LOST, HANDLER_DONE -> unavailable(cause);
      case ROW_SEEN -> Optional.of(Refusal.inProgress(Optional.empty()));
    };
  }

  private static Optional<Refusal> unavailable(FailureCause cause) {
    return Optional.of(Refusal.storeUnavailable(cause));
  }
}
