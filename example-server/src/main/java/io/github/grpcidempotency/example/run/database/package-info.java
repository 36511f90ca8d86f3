/**
 * The database: a PostgreSQL that the server starts itself, or the user's own, and the checks
 * before either is used.
 */
@NullMarked
package io.github.grpcidempotency.example.run.database;

import org.jspecify.annotations.NullMarked;
