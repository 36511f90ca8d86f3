package io.github.grpcidempotency.benchmarks.load;

import java.time.Duration;

/**
 * What callers saw.
 *
 * @param perSecond successful operations
 * @param p50Millis the median latency
 * @param p99Millis the latency that one in a hundred exceeds
 * @param operations how many succeeded
 */
public record Load(double perSecond, double p50Millis, double p99Millis, long operations) {
  /** Returns the load of something that was done so many times, one after the other. */
  public static Load ofTotal(long operations, Duration taken) {
    double millis = taken.toNanos() / 1e6 / operations;
    return new Load(operations / (taken.toNanos() / 1e9), millis, millis, operations);
  }
}
