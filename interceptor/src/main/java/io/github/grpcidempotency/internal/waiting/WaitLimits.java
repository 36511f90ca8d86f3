package io.github.grpcidempotency.internal.waiting;

/**
 * Limits for the calls of one process that wait for running calls, and for the total size of their
 * requests, serialized.
 */
public record WaitLimits(int calls, int callsPerKey, long bytes, long bytesPerKey) {
  public static final WaitLimits DEFAULT = new WaitLimits(10_000, 1_000, 64L << 20, 8L << 20);

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException if a limit is negative
   */
  public WaitLimits {
    if (callsPerKey < 0 || calls < 0 || bytesPerKey < 0 || bytes < 0) {
      throw new IllegalArgumentException("a limit for waiting calls must not be negative");
    }
  }

  public WaitLimits ofCalls(int all, int perKey) {
    return new WaitLimits(all, perKey, bytes, bytesPerKey);
  }

  public WaitLimits ofBytes(long all, long perKey) {
    return new WaitLimits(calls, callsPerKey, all, perKey);
  }
}
