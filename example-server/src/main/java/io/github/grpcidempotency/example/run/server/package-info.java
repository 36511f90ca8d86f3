/** The service behind a port: pools, what is checked before the first call, health, and the end. */
@NullMarked
package io.github.grpcidempotency.example.run.server;

import org.jspecify.annotations.NullMarked;
