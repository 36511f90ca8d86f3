/** A program that tests a server by the specification. */
@NullMarked
package io.github.grpcidempotency.conformance;

import org.jspecify.annotations.NullMarked;
