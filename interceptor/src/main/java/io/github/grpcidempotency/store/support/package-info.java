/** Helpers for implementations of stores: background tasks, and a log that is limited in rate. */
@NullMarked
package io.github.grpcidempotency.store.support;

import org.jspecify.annotations.NullMarked;
