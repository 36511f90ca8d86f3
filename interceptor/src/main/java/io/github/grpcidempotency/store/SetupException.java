package io.github.grpcidempotency.store;

import java.util.List;

/**
 * The descriptors, their options or the store have problems, so the server cannot start. Lists all
 * problems at once.
 */
public final class SetupException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private final transient List<String> problems;

  public SetupException(List<String> problems) {
    super("idempotency cannot be set up:\n  " + String.join("\n  ", problems));
    this.problems = List.copyOf(problems);
  }

  /** Returns the problems, one sentence each. */
  public List<String> problems() {
    return problems;
  }
}
