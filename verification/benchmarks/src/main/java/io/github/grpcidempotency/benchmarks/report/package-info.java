/** Numbers, the aims that they are held against, and their table, CSV and plot. */
@NullMarked
package io.github.grpcidempotency.benchmarks.report;

import org.jspecify.annotations.NullMarked;
