/** Ids that are derived from other values. */
@NullMarked
package io.github.grpcidempotency.internal.id;

import org.jspecify.annotations.NullMarked;
