/** For authors of modules that extend the interceptor. Not for users. */
@NullMarked
package io.github.grpcidempotency.spi;

import org.jspecify.annotations.NullMarked;
