package io.github.grpcidempotency.internal.decision;

import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.procedure.FailurePolicy;

/** Decides what to do with a claim whose handler has ended with an error. */
public final class OutcomeDecider {
  private OutcomeDecider() {}

  /** Returns the settlement of an error, according to a procedure's failure policy. */
  public static Settlement decide(HandlerError error, FailurePolicy policy) {
    if (error.terminal() || policy.terminal().contains(error.code())) {
      return Settlement.COMPLETE_WITH_ERROR;
    }
    return policy.unknown().contains(error.code()) ? Settlement.MARK_UNKNOWN : Settlement.RELEASE;
  }
}
