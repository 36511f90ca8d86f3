package io.github.grpcidempotency.benchmarks.scenario;

/**
 * What callers saw.
 *
 * @param perSecond successful operations
 * @param millis their latencies
 * @param operations how many succeeded
 */
public record Load(double perSecond, Latencies millis, long operations) {
  /**
   * Latencies in milliseconds.
   *
   * @param p50 the median
   * @param p90 what one in ten exceeds
   * @param p99 what one in a hundred exceeds
   * @param p999 what one in a thousand exceeds
   */
  public record Latencies(double p50, double p90, double p99, double p999) {}
}
