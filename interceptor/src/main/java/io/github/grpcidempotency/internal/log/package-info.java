/** Logging of messages that repeat, so that the log of an outage stays readable. */
@NullMarked
package io.github.grpcidempotency.internal.log;

import org.jspecify.annotations.NullMarked;
