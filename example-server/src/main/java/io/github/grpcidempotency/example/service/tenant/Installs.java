package io.github.grpcidempotency.example.service.tenant;

import io.github.grpcidempotency.example.organization.v1.Install;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.statement.StatementContext;

/** {@code tenant.installs}. */
public final class Installs {
  private static final String INSERT =
      """
      INSERT INTO tenant.installs (
        id, user_id, organization, cluster_id, install_id, name, version
      )
      SELECT :id, user_id, organization, id, :installId, :name, :version
      FROM tenant.clusters
      WHERE id = :parentId AND organization = :organization
      RETURNING *
      """;

  private static final String LIST =
      """
      SELECT * FROM tenant.installs
      WHERE cluster_id = :id AND organization = :organization
      ORDER BY id DESC
      LIMIT 1000
      """;

  private Installs() {}

  /**
   * Returns empty if the caller sees no such cluster.
   *
   * @param installId unique among the caller's
   */
  public static Optional<Install> insert(
      CallerHandle tenant, UUID id, UUID clusterId, UUID installId, String name, String version) {
    return tenant
        .query(INSERT, id)
        .bind("parentId", clusterId)
        .bind("installId", installId)
        .bind("name", name)
        .bind("version", version)
        .map(Installs::install)
        .findOne();
  }

  public static List<Install> list(CallerHandle tenant, UUID clusterId) {
    return tenant.query(LIST, clusterId).map(Installs::install).list();
  }

  private static Install install(ResultSet row, StatementContext context) throws SQLException {
    return Install.newBuilder()
        .setUid(row.getString("id"))
        .setId(row.getString("install_id"))
        .setClusterId(row.getString("cluster_id"))
        .setName(row.getString("name"))
        .setVersion(row.getString("version"))
        .setCreateTime(Column.created(row))
        .build();
  }
}
