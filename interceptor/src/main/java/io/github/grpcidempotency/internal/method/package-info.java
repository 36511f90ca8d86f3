/** What a gRPC method's descriptor says about its messages. */
@NullMarked
package io.github.grpcidempotency.internal.method;

import org.jspecify.annotations.NullMarked;
