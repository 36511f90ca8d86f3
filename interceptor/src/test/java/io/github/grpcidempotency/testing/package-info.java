/**
 * For tests: the contract that holds every store to the same behaviour, and a store in memory for
 * tests of services.
 */
@NullMarked
package io.github.grpcidempotency.testing;

import org.jspecify.annotations.NullMarked;
