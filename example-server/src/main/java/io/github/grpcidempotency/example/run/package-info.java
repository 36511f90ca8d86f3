/** Runs the service: a database, connection pools, the server with its metrics, a command line. */
@NullMarked
package io.github.grpcidempotency.example.run;

import org.jspecify.annotations.NullMarked;
