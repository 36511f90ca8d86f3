package io.github.grpcidempotency.example.service.tenant;

import io.github.grpcidempotency.example.organization.v1.Namespace;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.statement.StatementContext;

/** {@code tenant.namespaces}. */
public final class Namespaces {
  private static final String INSERT =
      """
      INSERT INTO tenant.namespaces (id, user_id, organization, project_id, name)
      SELECT :id, user_id, organization, id, :name
      FROM tenant.projects
      WHERE id = :parentId AND organization = :organization
      RETURNING *
      """;

  private static final String LIST =
      """
      SELECT * FROM tenant.namespaces
      WHERE project_id = :id AND organization = :organization
      ORDER BY id DESC
      LIMIT 1000
      """;

  private Namespaces() {}

  /** Returns empty if the caller sees no such project. */
  public static Optional<Namespace> insert(
      CallerHandle tenant, UUID id, UUID projectId, String name) {
    return tenant
        .query(INSERT, id)
        .bind("parentId", projectId)
        .bind("name", name)
        .map(Namespaces::namespace)
        .findOne();
  }

  public static List<Namespace> list(CallerHandle tenant, UUID projectId) {
    return tenant.query(LIST, projectId).map(Namespaces::namespace).list();
  }

  private static Namespace namespace(ResultSet row, StatementContext context) throws SQLException {
    return Namespace.newBuilder()
        .setId(row.getString("id"))
        .setProjectId(row.getString("project_id"))
        .setName(row.getString("name"))
        .setCreateTime(Column.created(row))
        .build();
  }
}
