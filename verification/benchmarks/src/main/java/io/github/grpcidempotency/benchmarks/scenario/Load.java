package io.github.grpcidempotency.benchmarks.scenario;

/**
 * The measurements of callers.
 *
 * @param perSecond successful operations per second
 * @param p50 the median of their latencies, in milliseconds
 * @param p99 the latency that one in a hundred exceeds, in milliseconds
 * @param operations the number of successful operations
 */
public record Load(double perSecond, double p50, double p99, long operations) {}
