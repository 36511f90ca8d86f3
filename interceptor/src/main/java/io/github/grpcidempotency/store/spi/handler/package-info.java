/** What a store may read of the handler that runs on the current thread. */
@NullMarked
package io.github.grpcidempotency.store.spi.handler;

import org.jspecify.annotations.NullMarked;
