/** The catalog of operations, and the status of their asynchronous work. */
@NullMarked
package io.github.grpcidempotency.postgres.internal.operation;

import org.jspecify.annotations.NullMarked;
