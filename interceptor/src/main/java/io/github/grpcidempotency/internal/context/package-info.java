/** What gRPC's {@code Context} carries for a running handler: its operation and its transaction. */
@NullMarked
package io.github.grpcidempotency.internal.context;

import org.jspecify.annotations.NullMarked;
