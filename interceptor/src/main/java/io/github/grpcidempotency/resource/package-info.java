/**
 * The resource that a procedure creates or deletes: its id, its type, and the status of the
 * asynchronous work behind it.
 */
@NullMarked
package io.github.grpcidempotency.resource;

import org.jspecify.annotations.NullMarked;
