/** The library's background threads. No exception of a task ends one of them. */
@NullMarked
package io.github.grpcidempotency.internal.background;

import org.jspecify.annotations.NullMarked;
