/** What the running handler runs under, as gRPC's {@code Context} carries it. */
@NullMarked
package io.github.grpcidempotency.internal.context;

import org.jspecify.annotations.NullMarked;
