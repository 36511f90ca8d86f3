/** Starts the shop with a database of its own, and calls it. */
@NullMarked
package io.github.grpcidempotency.spring.example.demo;

import org.jspecify.annotations.NullMarked;
