package io.github.grpcidempotency.admin;

import io.github.grpcidempotency.key.Caller;
import java.util.Optional;
import java.util.UUID;

/**
 * The tenants and projects whose operations are meant. An empty value does not restrict; the empty
 * text stands for operations outside all tenants, or outside all projects.
 *
 * @param tenant only operations of this tenant
 * @param project only operations of this project, of every tenant that has such a project unless
 *     the tenant is given too
 */
public record Scope(Optional<String> tenant, Optional<String> project) {
  /** All tenants and projects. */
  public static final Scope ALL = new Scope(Optional.empty(), Optional.empty());

  /**
   * Checks the names.
   *
   * @throws IllegalArgumentException if no {@link Caller} can have such a tenant or project
   */
  public Scope {
    Caller caller = Caller.of(new UUID(0, 0));
    tenant.filter(name -> !name.isEmpty()).ifPresent(caller::inTenant);
    project.filter(name -> !name.isEmpty()).ifPresent(caller::inProject);
  }

  /** Returns a tenant, with all its projects. */
  public static Scope ofTenant(String tenant) {
    return new Scope(Optional.of(tenant), Optional.empty());
  }

  /** Returns a project of a tenant. */
  public static Scope ofProject(String tenant, String project) {
    return new Scope(Optional.of(tenant), Optional.of(project));
  }
}
