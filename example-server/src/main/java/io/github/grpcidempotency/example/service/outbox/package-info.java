/**
 * The asynchronous work behind a create: what is to be done stands in {@code authz.outbox}, written
 * with the resource, and a worker does it.
 */
@NullMarked
package io.github.grpcidempotency.example.service.outbox;

import org.jspecify.annotations.NullMarked;
