/** The events that a service can listen to, and their causes. */
@NullMarked
package io.github.grpcidempotency.event;

import org.jspecify.annotations.NullMarked;
