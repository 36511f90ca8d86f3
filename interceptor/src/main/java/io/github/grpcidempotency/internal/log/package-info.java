/** Logging of repeated messages, which keeps the log readable during an outage. */
@NullMarked
package io.github.grpcidempotency.internal.log;

import org.jspecify.annotations.NullMarked;
