/** Writes with jOOQ within the claim of a transactional call. */
@NullMarked
package io.github.grpcidempotency.jooq;

import org.jspecify.annotations.NullMarked;
