package io.github.grpcidempotency.internal.event;

import java.util.Optional;

/**
 * The call, or piece of work, that an event is about.
 *
 * @param tenant the caller's tenant, if there are tenants and the caller is known
 * @param project the caller's project, if there are projects and the caller is known
 * @param shard the caller's shard, if the store has shards and the caller has one
 */
public record CallInfo(
    ProcedureInfo procedure,
    Optional<String> tenant,
    Optional<String> project,
    Optional<String> shard) {}
