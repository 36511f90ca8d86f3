package io.github.grpcidempotency.admin;

import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * An action of an operator, whether it was done or refused.
 *
 * @param id its number; later actions have greater numbers
 * @param at its time
 * @param role the database role
 * @param actor the person or program, as given by the role
 * @param act the action: {@code free}, {@code forget}, {@code read_contents}, {@code sweep}
 * @param operationId the operation, if the action was on one
 * @param procedure the operation's procedure, if the operation existed
 * @param userId the operation's user, if the operation existed
 * @param attempt the operation's attempt, if the operation existed
 * @param forced whether a live reservation was freed
 * @param deleted the number of deleted records
 * @param result its result
 * @param reason its reason
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
