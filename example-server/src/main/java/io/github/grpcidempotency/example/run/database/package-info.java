/**
 * Where the rows live: a PostgreSQL that the server starts itself, or one of the user's own, and
 * what must be true of either before it is used.
 */
@NullMarked
package io.github.grpcidempotency.example.run.database;

import org.jspecify.annotations.NullMarked;
