/** Transactional claims, and the transactions that handlers write through. */
@NullMarked
package io.github.grpcidempotency.postgres.internal.transaction;

import org.jspecify.annotations.NullMarked;
