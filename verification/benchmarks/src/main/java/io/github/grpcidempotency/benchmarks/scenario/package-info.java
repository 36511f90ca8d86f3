/** The measurements, one per file. */
@NullMarked
package io.github.grpcidempotency.benchmarks.scenario;

import org.jspecify.annotations.NullMarked;
