/** The benchmark program: the scenarios, their order, and the files of results. */
@NullMarked
package io.github.grpcidempotency.benchmarks;

import org.jspecify.annotations.NullMarked;
