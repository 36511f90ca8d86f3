/** The operation and the transaction of a running handler, in gRPC's {@code Context}. */
@NullMarked
package io.github.grpcidempotency.internal.context;

import org.jspecify.annotations.NullMarked;
