/**
 * The resources, table by table. Everything here runs in a transaction that belongs to one caller,
 * whose rows are the only ones it sees; a create writes its outbox row along with its resource.
 */
@NullMarked
package io.github.grpcidempotency.example.service.tenant;

import org.jspecify.annotations.NullMarked;
