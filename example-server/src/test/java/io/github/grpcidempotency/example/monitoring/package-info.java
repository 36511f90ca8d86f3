/** A Prometheus that watches the example, and the dashboard drawn from what it has seen. */
@NullMarked
package io.github.grpcidempotency.example.monitoring;

import org.jspecify.annotations.NullMarked;
