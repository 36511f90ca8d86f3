/** The checks at start-up. */
@NullMarked
package io.github.grpcidempotency.postgres.internal.check;

import org.jspecify.annotations.NullMarked;
