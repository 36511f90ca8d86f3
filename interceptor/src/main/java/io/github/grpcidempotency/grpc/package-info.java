/**
 * The gRPC side: the interceptor, the transport of a call, and the wire contract in metadata and
 * rich errors. To read the code, start at {@link
 * io.github.grpcidempotency.call.internal.KeyedCall}.
 */
@NullMarked
package io.github.grpcidempotency.grpc;

import org.jspecify.annotations.NullMarked;
