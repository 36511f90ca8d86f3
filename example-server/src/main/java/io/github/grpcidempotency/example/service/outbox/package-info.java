/**
 * The asynchronous work behind a create: the create writes it to {@code authz.outbox} together with
 * the resource, and a worker does it.
 */
@NullMarked
package io.github.grpcidempotency.example.service.outbox;

import org.jspecify.annotations.NullMarked;
