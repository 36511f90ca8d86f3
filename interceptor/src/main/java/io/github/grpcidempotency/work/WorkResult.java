package io.github.grpcidempotency.work;

import com.google.protobuf.Message;
import io.github.grpcidempotency.procedure.IdempotencyStatus;
import java.time.Instant;
import java.util.Set;
import java.util.UUID;

/**
 * What a piece of work came to.
 *
 * @param value its result, now or when it was run first
 * @param replayed whether it was run before
 * @param status how far the asynchronous work behind it has come
 * @param operationId the id of its record
 * @param expires until when the record answers
 * @param omitted the paths of fields that were never recorded, and that a replayed value lacks
 */
public record WorkResult<T extends Message>(
    T value,
    boolean replayed,
    IdempotencyStatus status,
    UUID operationId,
    Instant expires,
    Set<String> omitted) {}
