/**
 * The demo: two servers, each in a process of its own, and a client with one short file, a {@link
 * io.github.grpcidempotency.example.demo.Scene}, for each guarantee that it shows.
 */
@NullMarked
package io.github.grpcidempotency.example.demo;

import org.jspecify.annotations.NullMarked;
