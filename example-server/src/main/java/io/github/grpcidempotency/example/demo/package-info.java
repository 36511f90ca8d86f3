/** A client that tells a story: a response is lost, and nothing happens twice. */
@NullMarked
package io.github.grpcidempotency.example.demo;

import org.jspecify.annotations.NullMarked;
