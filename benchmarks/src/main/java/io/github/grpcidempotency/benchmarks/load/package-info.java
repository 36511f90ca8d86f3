/** Callers: closed loops of asynchronous calls, and what they saw. */
@NullMarked
package io.github.grpcidempotency.benchmarks.load;

import org.jspecify.annotations.NullMarked;
