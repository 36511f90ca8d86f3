/**
 * Fault injection: cuts connections at an exact moment, holds handlers back, and kills or stops
 * server processes.
 */
@NullMarked
package io.github.grpcidempotency.fault;

import org.jspecify.annotations.NullMarked;
