package io.github.grpcidempotency.admin;

import io.github.grpcidempotency.key.Caller;
import java.util.Optional;
import java.util.UUID;

/** The records that {@link Administration#erase} deletes: those of a user, or of a tenant. */
public final class Erasure {
  private final Optional<UUID> userId;
  private final Scope scope;

  private Erasure(Optional<UUID> userId, Scope scope) {
    this.userId = userId;
    this.scope = scope;
  }

  /** Returns the records of a user, in all tenants. */
  public static Erasure ofUser(UUID id) {
    return new Erasure(Optional.of(id), Scope.ALL);
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
   * Returns the records of a tenant, or of a project of a tenant.
   *
   * @throws IllegalArgumentException if the scope names no tenant
   */
  public static Erasure of(Scope scope) {
    if (scope.tenant().filter(name -> !name.isEmpty()).isEmpty()) {
      throw new IllegalArgumentException("an erasure needs the name of a tenant");
    }
    return new Erasure(Optional.empty(), scope);
  }

  Optional<UUID> userId() {
    return userId;
  }

  Scope scope() {
    return scope;
  }
}
