/** What a service can hear of: every decision that is not ordinary, and why. */
@NullMarked
package io.github.grpcidempotency.event;

import org.jspecify.annotations.NullMarked;
