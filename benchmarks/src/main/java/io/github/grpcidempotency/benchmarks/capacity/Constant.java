package io.github.grpcidempotency.benchmarks.capacity;

/**
 * A number that the formulas take, and where it comes from.
 *
 * @param name what it is
 * @param value in its unit
 * @param unit how it is counted
 * @param origin how it was found
 * @param source where
 */
record Constant(String name, double value, String unit, Origin origin, String source) {
  /** How a number was found. */
  enum Origin {
    /** As it stands in a result of the benchmarks. */
    MEASURED,
    /** Computed from results, so that a formula meets them. */
    FITTED,
    /** From elsewhere. */
    TAKEN,
    /** Nobody has measured it. */
    ASSUMED
  }
}
