/** Traces for OpenTelemetry. */
@NullMarked
package io.github.grpcidempotency.opentelemetry;

import org.jspecify.annotations.NullMarked;
