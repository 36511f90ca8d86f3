/** Claims that are owned, their leases, and how they are settled. */
@NullMarked
package io.github.grpcidempotency.internal.settling;

import org.jspecify.annotations.NullMarked;
