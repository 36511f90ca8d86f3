package io.github.grpcidempotency.admin;

/**
 * Who acts, and why. Both are kept in the audit table, beside the database role that was used.
 *
 * @param actor the person or program on whose behalf it is done
 * @param reason why; not blank
 */
public record Act(String actor, String reason) {
  /**
   * Checks both.
   *
   * @throws IllegalArgumentException if one is blank, or longer than 1,000 characters
   */
  public Act {
    check("actor", actor);
    check("reason", reason);
  }

  private static void check(String what, String text) {
    if (text.isBlank() || text.length() > 1_000) {
      throw new IllegalArgumentException("an act needs " + what + ", of at most 1,000 characters");
    }
  }
}
