/** Errors and metadata as the wire contract spells them. */
@NullMarked
package io.github.grpcidempotency.internal.wire;

import org.jspecify.annotations.NullMarked;
