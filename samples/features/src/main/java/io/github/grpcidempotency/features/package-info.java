/** One file for each feature. {@link Shop} has what they share. */
@NullMarked
package io.github.grpcidempotency.features;

import org.jspecify.annotations.NullMarked;
