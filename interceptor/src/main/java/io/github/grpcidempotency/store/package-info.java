/** The failures of a store, as services and listeners see them. */
@NullMarked
package io.github.grpcidempotency.store;

import org.jspecify.annotations.NullMarked;
