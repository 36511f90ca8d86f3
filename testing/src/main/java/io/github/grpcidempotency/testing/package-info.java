/**
 * For tests of services and of stores.
 *
 * <ul>
 *   <li>{@link io.github.grpcidempotency.testing.InMemoryIdempotencyStore} replaces the store in
 *       tests of services that need no database.
 *   <li>{@link io.github.grpcidempotency.testing.PostgresFixture} gives tests a PostgreSQL with the
 *       roles of a real one.
 *   <li>{@link io.github.grpcidempotency.testing.GrpcCleanupExtension} ends servers and channels.
 *   <li>{@link io.github.grpcidempotency.testing.IdempotencyStoreContract} tests stores, {@link
 *       io.github.grpcidempotency.testing.TransactionalStoreContract} those with transactions.
 * </ul>
 */
@NullMarked
package io.github.grpcidempotency.testing;

import org.jspecify.annotations.NullMarked;
