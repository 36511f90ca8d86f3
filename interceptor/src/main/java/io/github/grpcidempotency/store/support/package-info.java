/** Helpers for implementations of stores. */
@NullMarked
package io.github.grpcidempotency.store.support;

import org.jspecify.annotations.NullMarked;
