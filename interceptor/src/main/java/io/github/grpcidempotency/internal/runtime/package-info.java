/**
 * What a call uses and shares with other calls: claims, leases, waiting, settlement and replays.
 * Depends on neither gRPC nor SQL.
 */
@NullMarked
package io.github.grpcidempotency.internal.runtime;

import org.jspecify.annotations.NullMarked;
