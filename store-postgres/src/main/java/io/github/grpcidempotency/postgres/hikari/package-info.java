/** A setting for HikariCP. Only users of that pool need its classes. */
@NullMarked
package io.github.grpcidempotency.postgres.hikari;

import org.jspecify.annotations.NullMarked;
