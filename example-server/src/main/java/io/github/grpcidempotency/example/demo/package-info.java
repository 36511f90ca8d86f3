/**
 * The demo: a client that calls the example server, with one short file, a {@link
 * io.github.grpcidempotency.example.demo.Scene}, for each feature.
 */
@NullMarked
package io.github.grpcidempotency.example.demo;

import org.jspecify.annotations.NullMarked;
