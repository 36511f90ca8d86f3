/**
 * The gRPC side: the interceptor, the path of one call through it, and the wire contract in
 * metadata and rich errors. To read the code, start at {@code IdempotentCall}.
 */
@NullMarked
package io.github.grpcidempotency.grpc;

import org.jspecify.annotations.NullMarked;
