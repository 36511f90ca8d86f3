/** Ids that are made of other values. */
@NullMarked
package io.github.grpcidempotency.internal.id;

import org.jspecify.annotations.NullMarked;
