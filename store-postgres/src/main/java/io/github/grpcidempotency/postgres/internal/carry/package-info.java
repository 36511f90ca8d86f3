/**
 * Statements that travel with the statements of a connection's user: in front of the first one, and
 * in front of the commit.
 */
@NullMarked
package io.github.grpcidempotency.postgres.internal.carry;

import org.jspecify.annotations.NullMarked;
