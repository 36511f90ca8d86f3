/**
 * The store on PostgreSQL: every correctness rule lives in its SQL files, and the database decides
 * all races. Connect as an unprivileged role; row-level security holds even against a bug here.
 */
@NullMarked
package io.github.grpcidempotency.postgres;

import org.jspecify.annotations.NullMarked;
