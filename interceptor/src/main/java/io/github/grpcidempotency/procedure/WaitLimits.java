package io.github.grpcidempotency.procedure;

/**
 * How many calls may wait for running calls at the same time in one process, and how large their
 * requests may be together. A waiting call keeps its request in memory, because the call runs if
 * the call that it waits for leaves no answer. A duplicate beyond a limit is refused as if its
 * procedure did not let duplicates wait.
 *
 * @param callsPerKey how many calls may wait for one key
 * @param calls how many calls may wait for all keys together
 * @param bytesPerKey how large the requests of the calls that wait for one key may be together, in
 *     their serialized form
 * @param bytes how large the requests of all waiting calls may be together
 */
public record WaitLimits(int callsPerKey, int calls, long bytesPerKey, long bytes) {
  private static final WaitLimits DEFAULTS = new WaitLimits(1_000, 10_000, 8L << 20, 64L << 20);

  /**
   * Checks the limits.
   *
   * @throws IllegalArgumentException if one is negative
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

  /** Returns these limits with other numbers of calls. */
  public WaitLimits withCalls(int perKey, int inAll) {
    return new WaitLimits(perKey, inAll, bytesPerKey, bytes);
  }

  /** Returns these limits with other sizes of requests. */
  public WaitLimits withBytes(long perKey, long inAll) {
    return new WaitLimits(callsPerKey, calls, perKey, inAll);
  }
}
