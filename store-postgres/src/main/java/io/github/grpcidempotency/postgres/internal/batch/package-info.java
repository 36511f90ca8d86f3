/** Statements that are sent once for several calls. */
@NullMarked
package io.github.grpcidempotency.postgres.internal.batch;

import org.jspecify.annotations.NullMarked;
