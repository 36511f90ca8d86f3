/**
 * Ways to break things on purpose: connections cut at an exact moment, server processes killed or
 * stopped; and a service with its client that such things can be done to, in this JVM or another.
 */
@NullMarked
package io.github.grpcidempotency.fault;

import org.jspecify.annotations.NullMarked;
