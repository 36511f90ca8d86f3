package io.github.grpcidempotency.admin.console;

import io.github.grpcidempotency.admin.AdminAction;
import java.util.Set;

/**
 * A user of the console.
 *
 * @param actor the name, for the audit table
 * @param actions the allowed actions
 */
public record ConsoleUser(String actor, Set<AdminAction> actions) {
  /**
   * Checks the name.
   *
   * @throws IllegalArgumentException if it is blank, or longer than 1,000 characters
   */
  public ConsoleUser {
    if (actor.isBlank() || actor.length() > 1_000) {
      throw new IllegalArgumentException("the name of an actor must have 1 to 1,000 characters");
    }
    actions = Set.copyOf(actions);
  }

  boolean may(AdminAction action) {
    return actions.contains(action);
  }
}
