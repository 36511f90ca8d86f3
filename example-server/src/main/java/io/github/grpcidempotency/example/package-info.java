/**
 * The example's program. {@code service} is what an author of a service writes, {@code run} starts
 * it, {@code demo} plays a client against it; each knows only those before it.
 */
@NullMarked
package io.github.grpcidempotency.example;

import org.jspecify.annotations.NullMarked;
