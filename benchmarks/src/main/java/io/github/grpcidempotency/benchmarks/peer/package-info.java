/** What other libraries plug in by to be measured beside this one. */
@NullMarked
package io.github.grpcidempotency.benchmarks.peer;

import org.jspecify.annotations.NullMarked;
