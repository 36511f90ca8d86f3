/**
 * The demo: a client that calls the example server, one short file for each feature. Each {@link
 * io.github.grpcidempotency.example.demo.Scene} stands alone.
 */
@NullMarked
package io.github.grpcidempotency.example.demo;

import org.jspecify.annotations.NullMarked;
