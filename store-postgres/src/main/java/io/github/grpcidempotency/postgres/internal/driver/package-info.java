/** The driver: the state of its connections, and its parser. */
@NullMarked
package io.github.grpcidempotency.postgres.internal.driver;

import org.jspecify.annotations.NullMarked;
