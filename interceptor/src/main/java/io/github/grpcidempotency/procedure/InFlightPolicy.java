package io.github.grpcidempotency.procedure;

import java.time.Duration;

/**
 * What a duplicate gets while the first call is running.
 *
 * @param limit how long it waits for the first call's answer at most, the call's own deadline
 *     permitting; zero to be refused at once
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
      throw new IllegalArgumentException("a duplicate cannot wait for " + limit);
    }
  }

  /** Returns the default: the duplicate is told to come again. */
  public static InFlightPolicy refuse() {
    return REFUSE;
  }

  /**
   * Returns the policy by which a duplicate waits, without a thread or a connection, and is then
   * answered with the first call's answer; or runs itself if the first call left nothing.
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
