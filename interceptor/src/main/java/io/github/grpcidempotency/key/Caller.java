package io.github.grpcidempotency.key;

import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The authenticated principal on whose behalf a call runs. Keys of different callers never meet:
 * not those of different users, nor those of one user in different tenants or projects.
 *
 * @param userId the user; row-level security in the store follows it
 * @param tenant the tenant (organisation, account) that the user acts in, if there are tenants
 * @param project the project within the tenant, if the call is about one
 */
public record Caller(UUID userId, Optional<String> tenant, Optional<String> project) {
  /** Stands for "above all tenants" or "above all projects" in a namespace; no name is spelt so. */
  public static final String ABOVE = "-";

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._~-]{0,62}");

  /**
   * Checks the names.
   *
   * @throws IllegalArgumentException if a name is not 1 to 63 characters of {@code
   *     [A-Za-z0-9._~-]}, the first of them a letter, a digit or an underscore
   */
  public Caller {
    check("tenant", tenant);
    check("project", project);
  }

  /** Returns a user's caller, above all tenants and projects. */
  public static Caller of(UUID userId) {
    return new Caller(userId, Optional.empty(), Optional.empty());
  }

  /**
   * Returns the same user in a tenant, above its projects.
   *
   * @throws IllegalArgumentException if the name is malformed
   */
  public Caller inTenant(String name) {
    return new Caller(userId, Optional.of(name), Optional.empty());
  }

  /**
   * Returns the same user in a project of the same tenant.
   *
   * @throws IllegalArgumentException if the name is malformed
   */
  public Caller inProject(String name) {
    return new Caller(userId, tenant, Optional.of(name));
  }

  /**
   * Returns tenant and project as one word, as a stored key begins with it: {@code acme/apollo},
   * {@code acme/-} above the projects, {@code -/apollo} without tenants; empty above both.
   */
  public String namespace() {
    return tenant.isEmpty() && project.isEmpty()
        ? ""
        : tenant.orElse(ABOVE) + "/" + project.orElse(ABOVE);
  }

  private static void check(String what, Optional<String> name) {
    if (name.isPresent() && !NAME.matcher(name.get()).matches()) {
      throw new IllegalArgumentException(
          "a %s is 1 to 63 characters of [A-Za-z0-9._~-], not beginning with [.~-]"
              .formatted(what));
    }
  }
}
