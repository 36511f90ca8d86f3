package io.github.grpcidempotency.admin.service;

import io.github.grpcidempotency.admin.AdminAction;
import java.util.Optional;

/**
 * Authenticates and authorizes the callers of the admin service. It is called on the server's
 * executor, in the call's {@code Context}, in which the host's authentication has put the caller.
 * Implementations must be thread-safe, and may block.
 */
@FunctionalInterface
public interface Authorizer {
  /**
   * Allows or refuses an action.
   *
   * @param tenant the tenant of the requested operations. Empty if the operations of all tenants,
   *     operations without a tenant, or an unknown operation are requested. An authorizer that
   *     limits a person to one tenant refuses an empty tenant, so the person does not learn whether
   *     an operation of another tenant exists
   * @return the name of the person or program, for the audit table, of at most 1,000 characters;
   *     empty to refuse the action. An exception refuses it as well
   */
  Optional<String> authorize(AdminAction action, Optional<String> tenant);
}
