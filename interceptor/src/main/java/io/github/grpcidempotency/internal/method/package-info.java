/** The schema of a gRPC method and of its messages. */
@NullMarked
package io.github.grpcidempotency.internal.method;

import org.jspecify.annotations.NullMarked;
