package io.github.grpcidempotency.procedure;

import java.time.Duration;

/**
 * What happens to a duplicate while the first call is running.
 *
 * @param limit the longest time that the duplicate waits for the first call's answer, within its
 *     own deadline; zero to refuse it at once
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

  /** Returns the default: the duplicate is refused with the time of the next retry. */
  public static InFlightPolicy refuse() {
    return REFUSE;
  }

  /**
   * Returns a policy that lets a duplicate wait for the first call's answer. If that call leaves no
   * answer, the duplicate runs. A waiting call holds neither a thread nor a connection.
   *
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
