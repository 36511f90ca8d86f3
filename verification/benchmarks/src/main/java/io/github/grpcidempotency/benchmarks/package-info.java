/** The benchmark program: what to measure, in which order, and where the results go. */
@NullMarked
package io.github.grpcidempotency.benchmarks;

import org.jspecify.annotations.NullMarked;
