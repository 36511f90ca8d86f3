/** The events that a listener receives, and their causes. */
@NullMarked
package io.github.grpcidempotency.event;

import org.jspecify.annotations.NullMarked;
