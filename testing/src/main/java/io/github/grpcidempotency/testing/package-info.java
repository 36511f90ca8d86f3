/**
 * Support for tests of services and of stores.
 *
 * <ul>
 *   <li>{@link io.github.grpcidempotency.testing.InMemoryIdempotencyStore} replaces the database in
 *       tests of services.
 *   <li>{@link io.github.grpcidempotency.testing.PostgresFixture} provides a PostgreSQL database
 *       with the roles of a real one.
 *   <li>{@link io.github.grpcidempotency.testing.IdempotencyStoreContract} tests stores, {@link
 *       io.github.grpcidempotency.testing.TransactionalStoreContract} those with transactions.
 * </ul>
 */
@NullMarked
package io.github.grpcidempotency.testing;

import org.jspecify.annotations.NullMarked;
