package io.github.grpcidempotency.decision;

/** What becomes of a call. */
public sealed interface Decision {
  /** The claim is ours: run the handler and settle. */
  record Execute() implements Decision {}

  /** The store is out and the procedure fails open: run the handler without a claim. */
  record ExecuteUnguarded() implements Decision {}

  /** Answer with the recorded outcome. */
  record Replay() implements Decision {}

  /**
   * Answer with an error.
   *
   * @param refusal why
   */
  record Refuse(Refusal refusal) implements Decision {}
}
