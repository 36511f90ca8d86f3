package io.github.grpcidempotency.work;

import io.github.grpcidempotency.decision.Refusal;

/** A piece of work was not run and has no result to give, for the reasons of the wire contract. */
public final class WorkRefusedException extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient Refusal refusal;

  WorkRefusedException(Refusal refusal) {
    super(refusal.reason().name());
    this.refusal = refusal;
  }

  /** Returns why, and when to try again. */
  public Refusal refusal() {
    return refusal;
  }
}
