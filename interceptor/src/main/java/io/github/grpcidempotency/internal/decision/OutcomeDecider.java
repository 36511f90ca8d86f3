package io.github.grpcidempotency.internal.decision;

import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.procedure.FailurePolicy;

/** Decides what to do with a reservation once its handler has ended. */
public final class OutcomeDecider {
  private OutcomeDecider() {}

  /**
   * Returns the settlement of an outcome, according to a procedure's failure policy.
   *
   * @param committed whether the handler failed within its own transaction and that transaction was
   *     committed
   */
  public static Settlement decide(Outcome outcome, FailurePolicy policy, boolean committed) {
    if (!(outcome instanceof Outcome.Failed failed)) {
      return Settlement.COMPLETE;
    }
    if (failed.terminal() || policy.terminal().contains(failed.code())) {
      return Settlement.COMPLETE_WITH_ERROR;
    }
    boolean mayHaveHappened = committed && !policy.noEffect().contains(failed.code());
    return mayHaveHappened || policy.unknown().contains(failed.code())
        ? Settlement.MARK_UNKNOWN
        : Settlement.RELEASE;
  }
}
