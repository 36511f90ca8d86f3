/** The connections of the store, and what it does if they fail. */
@NullMarked
package io.github.grpcidempotency.postgres.internal.database;

import org.jspecify.annotations.NullMarked;
