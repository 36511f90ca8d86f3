package io.github.grpcidempotency.example.service.tenant;

import static io.github.grpcidempotency.example.service.tenant.Tables.API_KEYS;

import io.github.grpcidempotency.example.organization.v1.APIKey;
import java.util.Optional;
import java.util.UUID;

/** Updates and queries of API keys. */
public final class ApiKeys {
  private static final String REVOKE =
      """
      UPDATE tenant.api_keys
      SET revoked = coalesce(revoked, now())
      WHERE id = :id AND organization = :organization
      RETURNING <told>
      """;

  private static final String IS_GOOD =
      """
      SELECT count(*) > 0 FROM tenant.api_keys
      WHERE id = :id AND organization = :organization AND revoked IS NULL
      """;

  private ApiKeys() {}

  /** Revokes a key, if it is not revoked yet; empty if the caller sees no such key. */
  public static Optional<APIKey> revoke(CallerHandle tenant, UUID id) {
    return tenant
        .query(REVOKE)
        .define("told", API_KEYS.told())
        .bind("id", id)
        .map(API_KEYS.message())
        .findOne();
  }

  /** Returns whether the caller has this key, and it is not revoked. */
  public static boolean isGood(CallerHandle tenant, UUID id) {
    return tenant.query(IS_GOOD).bind("id", id).mapTo(Boolean.class).one();
  }
}
