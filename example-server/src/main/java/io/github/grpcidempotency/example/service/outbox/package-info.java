/**
 * The asynchronous work of a create. The create writes it to {@code authz.outbox} together with the
 * resource, and a worker executes it.
 */
@NullMarked
package io.github.grpcidempotency.example.service.outbox;

import org.jspecify.annotations.NullMarked;
