/**
 * The store on PostgreSQL. Every rule of correctness is in its SQL files, and the database decides
 * all races. Connect as an unprivileged role, so that row-level security protects even against a
 * bug here.
 */
@NullMarked
package io.github.grpcidempotency.postgres;

import org.jspecify.annotations.NullMarked;
