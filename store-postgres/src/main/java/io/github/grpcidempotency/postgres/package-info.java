/**
 * The store on PostgreSQL. All rules of correctness are in its SQL files, and the database decides
 * all races. Connect as an unprivileged role, so that row-level security protects data even against
 * a bug in this library.
 */
@NullMarked
package io.github.grpcidempotency.postgres;

import org.jspecify.annotations.NullMarked;
