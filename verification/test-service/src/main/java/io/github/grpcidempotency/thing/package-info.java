/**
 * A service for the tests of all modules, with its server and its client. Calls create things. A
 * test configures the procedures, the handlers and the store.
 */
@NullMarked
package io.github.grpcidempotency.thing;

import org.jspecify.annotations.NullMarked;
