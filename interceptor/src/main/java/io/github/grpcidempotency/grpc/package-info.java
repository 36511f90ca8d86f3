/**
 * Where the library meets gRPC: the interceptor, one call's journey through it, and the wire
 * contract in metadata and rich errors. Start reading at {@code IdempotentCall}.
 */
@NullMarked
package io.github.grpcidempotency.grpc;

import org.jspecify.annotations.NullMarked;
