/** A shop that clients call, and the ways in which it, or what is before it, fails them. */
@NullMarked
package io.github.grpcidempotency.shop;

import org.jspecify.annotations.NullMarked;
