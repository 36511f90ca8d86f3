/** The end of a transaction of the host. */
@NullMarked
package io.github.grpcidempotency.postgres.internal.host;

import org.jspecify.annotations.NullMarked;
