package io.github.grpcidempotency.procedure;

/**
 * Limits for the calls of one process that wait for running calls, and for the total size of their
 * requests. A waiting call keeps its request in memory, because the call runs if the running call
 * leaves no answer. A duplicate beyond a limit is refused at once.
 *
 * @param callsPerKey how many calls may wait for one key
 * @param calls how many calls may wait for all keys together
 * @param bytesPerKey the maximum total size of the requests that wait for one key, serialized
 * @param bytes the maximum total size of all waiting requests, serialized
 */
public record WaitLimits(int callsPerKey, int calls, long bytesPerKey, long bytes) {
  private static final WaitLimits DEFAULTS = new WaitLimits(1_000, 10_000, 8L << 20, 64L << 20);

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

  /**
   * Returns the default: 1,000 calls and 8 MiB for a key, 10,000 calls and 64 MiB for all keys
   * together.
   */
  public static WaitLimits defaults() {
    return DEFAULTS;
  }
}
