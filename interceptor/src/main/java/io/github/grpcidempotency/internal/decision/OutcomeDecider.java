package io.github.grpcidempotency.internal.decision;

import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.procedure.FailurePolicy;

/** Decides what to do with a claim whose handler has ended with an error. */
public final class OutcomeDecider {
  private OutcomeDecider() {}

  /**
   * Returns the settlement of an error, according to a procedure's failure policy.
   *
   * @param committed whether the handler failed within its own transaction and that transaction was
   *     committed
   */
  public static Settlement decide(HandlerError error, FailurePolicy policy, boolean committed) {
    if (error.terminal() || policy.terminal().contains(error.code())) {
      return Settlement.COMPLETE_WITH_ERROR;
    }
    boolean mayHaveHappened = committed && !policy.noEffect().contains(error.code());
    return mayHaveHappened || policy.unknown().contains(error.code())
        ? Settlement.MARK_UNKNOWN
        : Settlement.RELEASE;
  }
}
