/** The migrations of the schema, for Flyway and for other tools. */
@NullMarked
package io.github.grpcidempotency.postgres.internal.migration;

import org.jspecify.annotations.NullMarked;
