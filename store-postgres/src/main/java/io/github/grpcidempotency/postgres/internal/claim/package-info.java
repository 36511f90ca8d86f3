/** Reservations: claims that are committed rows, fenced by their attempt. */
@NullMarked
package io.github.grpcidempotency.postgres.internal.claim;

import org.jspecify.annotations.NullMarked;
