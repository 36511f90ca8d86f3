/**
 * How much of everything a rate of creates needs: formulas, calibrated by the results of the
 * benchmarks. Nothing in the formulas reads or writes.
 */
@NullMarked
package io.github.grpcidempotency.benchmarks.capacity;

import org.jspecify.annotations.NullMarked;
