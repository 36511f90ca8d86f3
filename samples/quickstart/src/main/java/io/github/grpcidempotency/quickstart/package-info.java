/** The library in one server and one client: {@link Quickstart} runs both. */
@NullMarked
package io.github.grpcidempotency.quickstart;

import org.jspecify.annotations.NullMarked;
