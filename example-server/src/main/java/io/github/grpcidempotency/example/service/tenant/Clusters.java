package io.github.grpcidempotency.example.service.tenant;

import io.github.grpcidempotency.example.organization.v1.Cluster;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.statement.StatementContext;

/** {@code tenant.clusters}. */
public final class Clusters {
  private static final String INSERT =
      """
      INSERT INTO tenant.clusters (id, user_id, organization, project_id, name, region)
      SELECT :id, user_id, organization, id, :name, :region
      FROM tenant.projects
      WHERE id = :parentId AND organization = :organization
      RETURNING *
      """;

  private static final String FIND =
      """
      SELECT * FROM tenant.clusters
      WHERE id = :id AND organization = :organization
      """;

  private static final String LIST =
      """
      SELECT * FROM tenant.clusters
      WHERE project_id = :id AND organization = :organization
      ORDER BY id DESC
      LIMIT 1000
      """;

  private Clusters() {}

  /** Returns empty if the caller sees no such project. */
  public static Optional<Cluster> insert(
      CallerHandle tenant, UUID id, UUID projectId, String name, String region) {
    return tenant
        .query(INSERT, id)
        .bind("parentId", projectId)
        .bind("name", name)
        .bind("region", region)
        .map(Clusters::cluster)
        .findOne();
  }

  public static Optional<Cluster> find(CallerHandle tenant, UUID id) {
    return tenant.query(FIND, id).map(Clusters::cluster).findOne();
  }

  public static List<Cluster> list(CallerHandle tenant, UUID projectId) {
    return tenant.query(LIST, projectId).map(Clusters::cluster).list();
  }

  private static Cluster cluster(ResultSet row, StatementContext context) throws SQLException {
    return Cluster.newBuilder()
        .setId(row.getString("id"))
        .setProjectId(row.getString("project_id"))
        .setName(row.getString("name"))
        .setRegion(row.getString("region"))
        .setCreateTime(Column.created(row))
        .build();
  }
}
