/** Passes events to the listeners and the log. Not for use by services. */
@NullMarked
package io.github.grpcidempotency.internal.event;

import org.jspecify.annotations.NullMarked;
