/** A service on Quarkus whose methods are safe to retry. */
@NullMarked
package io.github.grpcidempotency.host.quarkus;

import org.jspecify.annotations.NullMarked;
