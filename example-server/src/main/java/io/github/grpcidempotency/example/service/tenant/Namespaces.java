package io.github.grpcidempotency.example.service.tenant;

import java.util.List;
import java.util.UUID;

/** Deletes namespaces. */
public final class Namespaces {
  private static final String DELETE =
      """
      DELETE FROM tenant.namespaces
      WHERE id = :id AND organization = :organization
      RETURNING id
      """;

  /** The outbox first, so that the worker writes no further tuple. */
  private static final List<String> DELETE_RIGHTS =
      List.of(
          "DELETE FROM authz.outbox WHERE resource_id = ?",
          "DELETE FROM authz.tuples WHERE object = 'namespace:' || ?");

  private Namespaces() {}

  /**
   * Deletes a namespace and the rights to it.
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
}
