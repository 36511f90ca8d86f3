package io.github.grpcidempotency.admin.service;

import io.github.grpcidempotency.admin.AdminAction;
import java.util.Optional;

/**
 * Says who calls the admin service, and whether they may. It is called on the server's executor, in
 * the call's {@code Context}, where the host's authentication has left the caller. It must be
 * thread-safe, and may block.
 */
@FunctionalInterface
public interface Authorizer {
  /**
   * Allows or refuses an action.
   *
   * @param tenant the tenant of the operation, or of the operations that are asked for; empty if
   *     they are those of all tenants, outside all tenants, or not known. An authorizer that limits
   *     a person to a tenant refuses an empty one, and so does not tell whether an operation of
   *     another tenant exists
   * @return the name of the person or program, for the audit table, of at most 1,000 characters;
   *     empty to refuse. Whatever is thrown refuses as well
   */
  Optional<String> authorize(AdminAction action, Optional<String> tenant);
}
