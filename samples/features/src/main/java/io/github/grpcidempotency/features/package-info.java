/** One file for each feature. {@link Shop} contains the common code. */
@NullMarked
package io.github.grpcidempotency.features;

import org.jspecify.annotations.NullMarked;
