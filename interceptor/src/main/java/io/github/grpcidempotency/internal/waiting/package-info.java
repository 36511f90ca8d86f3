/** Duplicates that wait for a running call. */
@NullMarked
package io.github.grpcidempotency.internal.waiting;

import org.jspecify.annotations.NullMarked;
