package io.github.grpcidempotency.procedure;

import java.time.Duration;

/**
 * What happens to a duplicate while the first call is running.
 *
 * @param limit how long the duplicate waits for the first call's answer at most, within its own
 *     deadline; zero to refuse it at once
 */
public record InFlightPolicy(Duration limit) {
  private static final Duration MOST = Duration.ofDays(36_500);
  private static final InFlightPolicy REFUSE = new InFlightPolicy(Duration.ZERO);

  /**
   * Checks the duration.
   *
   * @throws IllegalArgumentException if it is negative, or longer than 36,500 days
   */
  public InFlightPolicy {
    if (limit.isNegative() || limit.compareTo(MOST) > 0) {
      throw new IllegalArgumentException(
          "the time that a duplicate waits must be 0 to 36500 days, not " + limit);
    }
  }

  /** Returns the default: the duplicate is refused, and told when to retry. */
  public static InFlightPolicy refuse() {
    return REFUSE;
  }

  /**
   * Returns the policy by which a duplicate waits for the first call's answer, and runs if that
   * call leaves none. A waiting call holds neither a thread nor a connection.
   *
   * @param limit how long at most
   * @throws IllegalArgumentException if it is negative, or longer than 36,500 days
   */
  public static InFlightPolicy attach(Duration limit) {
    return new InFlightPolicy(limit);
  }

  /** Returns whether duplicates wait. */
  public boolean attaches() {
    return !limit.isZero();
  }
}
