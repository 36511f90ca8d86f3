/**
 * The example's program. {@code service} is what the author of a service writes, {@code run} starts
 * it, and {@code demo} runs a client against it. Each depends only on those before it.
 */
@NullMarked
package io.github.grpcidempotency.example;

import org.jspecify.annotations.NullMarked;
