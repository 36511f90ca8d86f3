package io.github.grpcidempotency.procedure;

import java.util.List;

/**
 * A server cannot be started as it is described. Thrown before the first call, once, with
 * everything that is wrong: with the descriptors, their options, and the store.
 */
public final class SetupException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private final transient List<String> problems;

  /** Makes the exception of all problems, each a clear sentence. */
  public SetupException(List<String> problems) {
    super("idempotency cannot be set up:\n  " + String.join("\n  ", problems));
    this.problems = List.copyOf(problems);
  }

  /** Returns what is wrong, one sentence each. */
  public List<String> problems() {
    return problems;
  }
}
