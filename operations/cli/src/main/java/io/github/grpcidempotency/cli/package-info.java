/** The command {@code idempotency}. */
@NullMarked
package io.github.grpcidempotency.cli;

import org.jspecify.annotations.NullMarked;
