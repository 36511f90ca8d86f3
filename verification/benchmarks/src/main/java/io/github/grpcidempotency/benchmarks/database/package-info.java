/** A durable PostgreSQL with the full schema, and what it cost: round trips, commits, WAL. */
@NullMarked
package io.github.grpcidempotency.benchmarks.database;

import org.jspecify.annotations.NullMarked;
