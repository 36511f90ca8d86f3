/** Metrics for Micrometer. */
@NullMarked
package io.github.grpcidempotency.micrometer;

import org.jspecify.annotations.NullMarked;
