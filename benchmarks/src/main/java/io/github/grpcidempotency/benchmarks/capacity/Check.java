package io.github.grpcidempotency.benchmarks.capacity;

/**
 * A prediction, held against a measurement that no constant was fitted to.
 *
 * @param tolerance how far off it may be, as a share of what was measured
 */
record Check(String name, String unit, double predicted, double measured, double tolerance) {
  double error() {
    return predicted / measured - 1;
  }

  boolean holds() {
    return Math.abs(error()) <= tolerance;
  }
}
