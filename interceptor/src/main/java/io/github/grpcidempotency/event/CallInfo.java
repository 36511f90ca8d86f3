package io.github.grpcidempotency.event;

import java.util.Optional;

/**
 * Which call, or piece of work, an event is about.
 *
 * @param procedure the procedure; the same object for all its calls
 * @param tenant the caller's tenant, if there are tenants and the caller is known
 * @param project the caller's project, likewise
 * @param shard the caller's shard, if the store has shards and the caller has one
 */
public record CallInfo(
    ProcedureInfo procedure,
    Optional<String> tenant,
    Optional<String> project,
    Optional<String> shard) {}
