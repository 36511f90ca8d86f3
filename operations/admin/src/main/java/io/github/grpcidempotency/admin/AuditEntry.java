package io.github.grpcidempotency.admin;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * An action of an operator, whether it was done or refused.
 *
 * @param id its number; later actions have greater numbers
 * @param at its time
 * @param role the database role of the session
 * @param address the address of the session's client, or of its pooler; empty for a Unix socket
 * @param actor the person or program, as given by the role
 * @param act the action: {@code free}, {@code forget}, {@code read_contents}, {@code sweep}, {@code
 *     erase}
 * @param operationId the operation, if the action was on one
 * @param procedure the operation's procedure, if the operation existed
 * @param userId the operation's user, if the operation existed
 * @param attempt the operation's attempt, if the operation existed
 * @param tenant the operation's tenant, if the operation existed; the empty text outside all
 *     tenants
 * @param project the operation's project, likewise
 * @param keyHash a hash of the operation's key, in hexadecimal, with a secret of the database
 * @param servers the servers that had held the operation, in order
 * @param claimed the time of the operation's first claim
 * @param recorded the time at which the operation's outcome was recorded
 * @param forced whether a live reservation was freed
 * @param deleted the number of deleted records
 * @param result its result
 * @param reason its reason
 */
public record AuditEntry(
    long id,
    Instant at,
    String role,
    Optional<String> address,
    String actor,
    String act,
    Optional<UUID> operationId,
    Optional<String> procedure,
    Optional<UUID> userId,
    Optional<Integer> attempt,
    Optional<String> tenant,
    Optional<String> project,
    Optional<String> keyHash,
    List<String> servers,
    Optional<Instant> claimed,
    Optional<Instant> recorded,
    boolean forced,
    int deleted,
    ActResult result,
    String reason) {
  /** Copies the list. */
  public AuditEntry {
    servers = List.copyOf(servers);
  }
}
