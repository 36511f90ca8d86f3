/**
 * What happens beside the calls: leases are renewed, answers that could not be recorded at once are
 * recorded later, and listeners are notified. No gRPC, no SQL.
 */
@NullMarked
package io.github.grpcidempotency.internal.runtime;

import org.jspecify.annotations.NullMarked;
