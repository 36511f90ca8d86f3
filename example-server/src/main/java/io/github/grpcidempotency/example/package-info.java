/** The two programs of the example: the server, and the demo that plays a client against it. */
@NullMarked
package io.github.grpcidempotency.example;

import org.jspecify.annotations.NullMarked;
