/** Uses transactions of a Jakarta transaction manager for claims. */
@NullMarked
package io.github.grpcidempotency.jta;

import org.jspecify.annotations.NullMarked;
