package io.github.grpcidempotency.admin;

import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * One act of an operator.
 *
 * @param id its number
 * @param at when
 * @param role the database role that was used
 * @param actor on whose behalf
 * @param act what was done: {@code free}, {@code forget}, {@code read_contents}, {@code sweep}
 * @param operationId the operation, if it was about one
 * @param reason why
 */
public record AuditEntry(
    long id,
    Instant at,
    String role,
    String actor,
    String act,
    Optional<UUID> operationId,
    String reason) {}
