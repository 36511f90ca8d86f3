package io.github.grpcidempotency.admin;

import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Restricts the list of operators' actions. An empty value does not restrict.
 *
 * @param operationId only actions on this operation
 * @param key only actions on operations of this key, as the client sends it; the audit contains
 *     only hashes of keys
 * @param scope only actions on operations of these tenants and projects, and erasures of exactly
 *     this scope
 * @param userId only actions on operations of this user, and erasures of the user's records
 * @param actor only actions of this actor
 * @param act only actions of this kind, as in {@link AuditEntry#act}
 * @param since only actions at this time or later
 * @param until only actions before this time
 * @param before only actions with a lower number
 * @param limit the maximum number, from 1 to 10,000
 */
public record AuditQuery(
    Optional<UUID> operationId,
    Optional<String> key,
    Scope scope,
    Optional<UUID> userId,
    Optional<String> actor,
    Optional<String> act,
    Optional<Instant> since,
    Optional<Instant> until,
    Optional<Long> before,
    int limit) {
  private static final int MAX_LIMIT = 10_000;
  private static final Set<String> ACTS =
      Set.of("erase", "forget", "free", "read_contents", "sweep");

  /**
   * Checks the limit and the kind of action.
   *
   * @throws IllegalArgumentException if the limit is not from 1 to 10,000, or there is no such
   *     action
   */
  public AuditQuery {
    if (act.isPresent() && !ACTS.contains(act.get())) {
      throw new IllegalArgumentException(
          "an action is erase, forget, free, read_contents or sweep, not " + act.get());
    }
    if (limit < 1 || limit > MAX_LIMIT) {
      throw new IllegalArgumentException(
          "the limit for reading the audit must be 1 to 10,000, not " + limit);
    }
  }

  /** Returns a query for the newest actions. */
  public static AuditQuery newest(int limit) {
    return new AuditQuery(
        Optional.empty(),
        Optional.empty(),
        Scope.ALL,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        limit);
  }

  /** Returns a copy that is restricted to an operation. */
  public AuditQuery ofOperation(UUID id) {
    return new AuditQuery(
        Optional.of(id), key, scope, userId, actor, act, since, until, before, limit);
  }

  /** Returns a copy that is restricted to a key, a scope, and a user unless empty. */
  public AuditQuery ofKey(String sentKey, Scope in, Optional<UUID> ofUser) {
    return new AuditQuery(
        operationId, Optional.of(sentKey), in, ofUser, actor, act, since, until, before, limit);
  }

  /** Returns a copy that is restricted to the key and caller of an operation. */
  public AuditQuery ofKeyOf(OperationRecord operation) {
    return ofKey(
        operation.key(),
        Scope.ofProject(operation.tenant(), operation.project()),
        Optional.of(operation.userId()));
  }

  /** Returns a copy for the actions before one with this number. */
  public AuditQuery before(long number) {
    return new AuditQuery(
        operationId, key, scope, userId, actor, act, since, until, Optional.of(number), limit);
  }

  /** Leaves out the key, because raw keys must not get into logs. */
  @Override
  public String toString() {
    return "AuditQuery[withheld]";
  }
}
