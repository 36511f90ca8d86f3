package io.github.grpcidempotency.internal.decision;

import com.google.rpc.Code;

/** How a handler ended. */
public sealed interface Outcome {
  /** With a response. */
  record Succeeded() implements Outcome {}

  /**
   * With an error: the handler closed the call with it, or threw it.
   *
   * @param code the error's code, never {@code OK}
   * @param terminal whether the handler itself marked the error as terminal
   */
  record Failed(Code code, boolean terminal) implements Outcome {}
}
