/** Writes with jOOQ within the claim of a transactional call. */
@NullMarked
package io.github.grpcidempotency.postgres.jooq;

import org.jspecify.annotations.NullMarked;
