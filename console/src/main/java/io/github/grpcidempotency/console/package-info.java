/** A page for operators. */
@NullMarked
package io.github.grpcidempotency.console;

import org.jspecify.annotations.NullMarked;
