package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.torture.Operation.Scope;

/** A rule that a history breaks, and where. */
record Violation(Rule rule, Scope scope, String what) {
  @Override
  public String toString() {
    return "%s: key %s of user %s: %s".formatted(rule, scope.key(), scope.user(), what);
  }
}
