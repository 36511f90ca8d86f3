/** For authors of modules that extend the interceptor. Not for users. */
@NullMarked
package io.github.grpcidempotency.grpc.spi;

import org.jspecify.annotations.NullMarked;
