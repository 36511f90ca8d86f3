package io.github.grpcidempotency.admin;

import io.github.grpcidempotency.key.Caller;
import java.util.Optional;
import java.util.UUID;

/** The records that {@link Administration#erase} deletes: those of a user, or of a tenant. */
public final class Erasure {
  private final Optional<UUID> userId;
  private final Optional<String> tenant;

  private Erasure(Optional<UUID> userId, Optional<String> tenant) {
    this.userId = userId;
    this.tenant = tenant;
  }

  /** Returns the records of a user, in all tenants. */
  public static Erasure ofUser(UUID id) {
    return new Erasure(Optional.of(id), Optional.empty());
  }

  /**
   * Returns the records of a user whose id is not a UUID, as {@link Caller#ofSubject}.
   *
   * @throws IllegalArgumentException if the subject is empty or not valid Unicode
   */
  public static Erasure ofSubject(String subject) {
    return ofUser(Caller.ofSubject(subject).userId());
  }

  /**
   * Returns the records of a tenant, such as {@code acme}, or of a tenant and project, such as
   * {@code acme/apollo}.
   *
   * @throws IllegalArgumentException if the tenant is empty
   */
  public static Erasure ofTenant(String tenant) {
    if (tenant.isEmpty()) {
      throw new IllegalArgumentException("a tenant must not be empty");
    }
    return new Erasure(Optional.empty(), Optional.of(tenant));
  }

  Optional<UUID> userId() {
    return userId;
  }

  Optional<String> tenant() {
    return tenant;
  }
}
