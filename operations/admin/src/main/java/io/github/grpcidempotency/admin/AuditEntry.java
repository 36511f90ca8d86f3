package io.github.grpcidempotency.admin;

import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * One act of an operator, done or refused.
 *
 * @param id its number; a later act has a higher one
 * @param at when
 * @param role the database role that was used
 * @param actor on whose behalf, as that role said
 * @param act what was done: {@code free}, {@code forget}, {@code read_contents}, {@code sweep}
 * @param operationId the operation, if it was about one
 * @param procedure the operation's procedure, if there was such an operation
 * @param userId the operation's user, if there was such an operation
 * @param attempt the operation's attempt, if there was such an operation
 * @param forced whether it was freed although its owner lived
 * @param deleted how many records it has deleted
 * @param result what became of it
 * @param reason why
 */
public record AuditEntry(
    long id,
    Instant at,
    String role,
    String actor,
    String act,
    Optional<UUID> operationId,
    Optional<String> procedure,
    Optional<UUID> userId,
    Optional<Integer> attempt,
    boolean forced,
    int deleted,
    ActResult result,
    String reason) {}
