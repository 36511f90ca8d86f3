/**
 * One service of the tests of all modules, with its server and its client: calls create things, and
 * a test says how they are described, handled and stored.
 */
@NullMarked
package io.github.grpcidempotency.thing;

import org.jspecify.annotations.NullMarked;
