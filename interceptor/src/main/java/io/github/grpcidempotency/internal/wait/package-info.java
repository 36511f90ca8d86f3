/** Queues of waiting calls, without a thread for each of them. */
@NullMarked
package io.github.grpcidempotency.internal.wait;

import org.jspecify.annotations.NullMarked;
