/**
 * A durable PostgreSQL with the full schema, and the cost of work on it: round trips, commits, WAL.
 */
@NullMarked
package io.github.grpcidempotency.benchmarks.database;

import org.jspecify.annotations.NullMarked;
