/** The errors and the metadata of the wire contract. */
@NullMarked
package io.github.grpcidempotency.internal.wire;

import org.jspecify.annotations.NullMarked;
