/** Lets claims be transactions of a Jakarta transaction manager. */
@NullMarked
package io.github.grpcidempotency.jta;

import org.jspecify.annotations.NullMarked;
