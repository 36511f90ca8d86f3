/**
 * The catalog of operations, the status of their asynchronous work, and the watch for the end of
 * other servers' operations.
 */
@NullMarked
package io.github.grpcidempotency.postgres.internal.operation;

import org.jspecify.annotations.NullMarked;
