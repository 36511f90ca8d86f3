/** The watch for the end of other servers' operations. */
@NullMarked
package io.github.grpcidempotency.postgres.internal.watch;

import org.jspecify.annotations.NullMarked;
