/**
 * Ways to break things on purpose: to cut connections at an exact moment, to hold handlers back,
 * and to kill or stop server processes.
 */
@NullMarked
package io.github.grpcidempotency.fault;

import org.jspecify.annotations.NullMarked;
