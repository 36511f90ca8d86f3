/** The choice of a database by caller. */
@NullMarked
package io.github.grpcidempotency.shard;

import org.jspecify.annotations.NullMarked;
