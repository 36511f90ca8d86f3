/** The runner against right and wrong servers. */
@NullMarked
package io.github.grpcidempotency.conformance;

import org.jspecify.annotations.NullMarked;
