package io.github.grpcidempotency.example.service.organization;

import io.github.grpcidempotency.example.service.tenant.ApiKeys;
import io.github.grpcidempotency.example.service.tenant.Tenant;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.store.StoreException;
import java.util.Optional;
import java.util.function.BiPredicate;
import org.jdbi.v3.core.JdbiException;

/**
 * Allows the replay of a {@code CreateAPIKey} only to a caller who still has that key. Once the key
 * is revoked or deleted, its token is not returned any more.
 */
final class ApiKeyGuard implements BiPredicate<Caller, Optional<ResourceId>> {
  private final Tenant tenant;

  ApiKeyGuard(Tenant tenant) {
    this.tenant = tenant;
  }

  @Override
  public boolean test(Caller caller, Optional<ResourceId> apiKeyId) {
    try {
      return apiKeyId
          .map(id -> tenant.as(caller, handle -> ApiKeys.isGood(handle, id.asUuid())))
          .orElse(false);
    } catch (JdbiException unreachable) {
      throw new StoreException("the API key could not be looked up", unreachable);
    }
  }
}
