package io.github.grpcidempotency.benchmarks.scenario;

/**
 * The measurements of callers.
 *
 * @param perSecond successful operations per second
 * @param millis their latencies
 * @param operations the number of successful operations
 */
public record Load(double perSecond, Latencies millis, long operations) {
  /**
   * Latencies in milliseconds.
   *
   * @param p50 the median
   * @param p90 exceeded by one in ten
   * @param p99 exceeded by one in a hundred
   * @param p999 exceeded by one in a thousand
   */
  public record Latencies(double p50, double p90, double p99, double p999) {}
}
