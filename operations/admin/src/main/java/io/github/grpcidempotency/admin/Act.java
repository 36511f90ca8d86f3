package io.github.grpcidempotency.admin;

/**
 * The actor of an administrative action and the reason. The audit table keeps both, together with
 * the database role.
 *
 * @param actor the person or program on whose behalf the action is done
 * @param reason the reason; not blank
 */
public record Act(String actor, String reason) {
  /**
   * Checks both values.
   *
   * @throws IllegalArgumentException if one is blank, or longer than 1,000 characters
   */
  public Act {
    check("actor", actor);
    check("reason", reason);
  }

  private static void check(String what, String text) {
    if (text.isBlank() || text.length() > 1_000) {
      throw new IllegalArgumentException(
          "an action needs a value of 1 to 1,000 characters: " + what);
    }
  }
}
