package io.github.grpcidempotency.decision;

import java.time.Duration;

/** What becomes of a call. */
public sealed interface Decision {
  /** The claim is ours: run the handler and settle. */
  record Execute() implements Decision {}

  /** The store is out and the procedure fails open: run the handler without a claim. */
  record ExecuteUnguarded() implements Decision {}

  /** Answer with the recorded outcome. */
  record Replay() implements Decision {}

  /**
   * Wait for the running call, then decide again.
   *
   * @param limit how long at most, counted from when the duplicate came
   */
  record Attach(Duration limit) implements Decision {}

  /**
   * Answer with an error.
   *
   * @param refusal why
   */
  record Refuse(Refusal refusal) implements Decision {}
}
