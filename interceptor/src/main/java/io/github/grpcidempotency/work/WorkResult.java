package io.github.grpcidempotency.work;

import com.google.protobuf.Message;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * The result of a piece of work.
 *
 * @param value the result of this run, or the recorded result
 * @param status the status of the asynchronous work behind the created resource; empty if the
 *     record refers to no resource, although the procedure has a status resolver
 * @param omitted on a replay, the paths of fields that were not recorded and are missing in the
 *     value
 */
public record WorkResult<T extends Message>(
    T value,
    boolean replayed,
    Optional<IdempotencyStatus> status,
    UUID operationId,
    Instant expires,
    Set<String> omitted) {}
