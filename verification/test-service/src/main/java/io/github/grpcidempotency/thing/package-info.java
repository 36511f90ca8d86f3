/**
 * A service for the tests of all modules, with its server and its client. Calls create things, and
 * a test sets how they are described, handled and stored.
 */
@NullMarked
package io.github.grpcidempotency.thing;

import org.jspecify.annotations.NullMarked;
