/** Results, their aims, and their output as table, CSV and plot. */
@NullMarked
package io.github.grpcidempotency.benchmarks.report;

import org.jspecify.annotations.NullMarked;
