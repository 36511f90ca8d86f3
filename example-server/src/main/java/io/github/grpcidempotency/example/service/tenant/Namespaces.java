package io.github.grpcidempotency.example.service.tenant;

import java.util.List;
import java.util.UUID;

/** Deletes namespaces. */
public final class Namespaces {
  private static final String DELETE =
      """
      WITH deleted AS (
        DELETE FROM tenant.namespaces
        WHERE id = :id AND organization = :organization
        RETURNING id, user_id, organization
      )
      INSERT INTO tenant.deleted_namespaces (id, user_id, organization)
      SELECT id, user_id, organization FROM deleted
      RETURNING id
      """;

  /** The outbox first, so that the worker writes no further tuple. */
  private static final List<String> DELETE_RIGHTS =
      List.of(
          "DELETE FROM authz.outbox WHERE resource_id = ?",
          "DELETE FROM authz.tuples WHERE object = 'namespace:' || ?");

  private static final String WAS_DELETED =
      """
      SELECT count(*) > 0 FROM tenant.deleted_namespaces
      WHERE id = :id AND organization = :organization
      """;

  private Namespaces() {}

  /**
   * Deletes a namespace and the rights to it, and leaves a tombstone.
   *
   * @return whether the caller had such a namespace
   */
  public static boolean delete(CallerHandle tenant, UUID id) {
    boolean found = tenant.query(DELETE).bind("id", id).mapTo(UUID.class).findOne().isPresent();
    if (found) {
      DELETE_RIGHTS.forEach(rights -> tenant.handle().execute(rights, id));
    }
    return found;
  }

  /** Returns whether the caller once had such a namespace. */
  public static boolean wasDeleted(CallerHandle tenant, UUID id) {
    return tenant.query(WAS_DELETED).bind("id", id).mapTo(Boolean.class).one();
  }
}
