/**
 * The parts put together: pools, store, sweep, outbox worker, scheduler and gRPC server, started
 * and stopped as one.
 */
@NullMarked
package io.github.grpcidempotency.example.run.server;

import org.jspecify.annotations.NullMarked;
