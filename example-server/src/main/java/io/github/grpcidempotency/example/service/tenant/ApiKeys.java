package io.github.grpcidempotency.example.service.tenant;

import io.github.grpcidempotency.example.organization.v1.APIKey;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.statement.StatementContext;

/** {@code tenant.api_keys}. */
public final class ApiKeys {
  private static final String INSERT =
      """
      INSERT INTO tenant.api_keys (id, user_id, organization, project_id, name, token_sha256)
      SELECT :id, user_id, organization, id, :name, :tokenSha256
      FROM tenant.projects
      WHERE id = :parentId AND organization = :organization
      RETURNING *
      """;

  private static final String LIST =
      """
      SELECT * FROM tenant.api_keys
      WHERE project_id = :id AND organization = :organization
      ORDER BY id DESC
      LIMIT 1000
      """;

  private static final String REVOKE =
      """
      UPDATE tenant.api_keys
      SET revoked = coalesce(revoked, now())
      WHERE id = :id AND organization = :organization
      RETURNING *
      """;

  private static final String IS_GOOD =
      """
      SELECT count(*) > 0 FROM tenant.api_keys
      WHERE id = :id AND organization = :organization AND revoked IS NULL
      """;

  private ApiKeys() {}

  /**
   * Returns empty if the caller sees no such project.
   *
   * @param tokenSha256 all that is kept of the key's token
   */
  public static Optional<APIKey> insert(
      CallerHandle tenant, UUID id, UUID projectId, String name, byte[] tokenSha256) {
    return tenant
        .query(INSERT, id)
        .bind("parentId", projectId)
        .bind("name", name)
        .bind("tokenSha256", tokenSha256)
        .map(ApiKeys::apiKey)
        .findOne();
  }

  public static List<APIKey> list(CallerHandle tenant, UUID projectId) {
    return tenant.query(LIST, projectId).map(ApiKeys::apiKey).list();
  }

  /** Revokes a key, if it is not revoked yet; empty if the caller sees no such key. */
  public static Optional<APIKey> revoke(CallerHandle tenant, UUID id) {
    return tenant.query(REVOKE, id).map(ApiKeys::apiKey).findOne();
  }

  /** Returns whether the caller has such a key, and it is not revoked. */
  public static boolean isGood(CallerHandle tenant, UUID id) {
    return tenant.query(IS_GOOD, id).mapTo(Boolean.class).one();
  }

  private static APIKey apiKey(ResultSet row, StatementContext context) throws SQLException {
    APIKey.Builder apiKey =
        APIKey.newBuilder()
            .setId(row.getString("id"))
            .setProjectId(row.getString("project_id"))
            .setName(row.getString("name"))
            .setCreateTime(Column.created(row));
    Column.time(row, "revoked").ifPresent(apiKey::setRevokeTime);
    return apiKey.build();
  }
}
