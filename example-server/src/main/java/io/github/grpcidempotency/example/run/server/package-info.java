/** The service on a port: pools, checks before the first call, health, and shutdown. */
@NullMarked
package io.github.grpcidempotency.example.run.server;

import org.jspecify.annotations.NullMarked;
