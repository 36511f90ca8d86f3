package io.github.grpcidempotency.example.service.tenant;

import io.github.grpcidempotency.example.organization.v1.Project;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.statement.StatementContext;

/** {@code tenant.projects}. */
public final class Projects {
  private static final String INSERT =
      """
      INSERT INTO tenant.projects (id, user_id, organization, name)
      VALUES (:id, :userId, :organization, :name)
      RETURNING *
      """;

  private static final String FIND =
      """
      SELECT * FROM tenant.projects
      WHERE id = :id AND organization = :organization
      """;

  private static final String LIST =
      """
      SELECT * FROM tenant.projects
      WHERE organization = :organization
      ORDER BY id DESC
      LIMIT 1000
      """;

  private Projects() {}

  public static Project insert(CallerHandle tenant, UUID id, String name) {
    return tenant
        .query(INSERT, id)
        .bind("userId", tenant.caller().userId())
        .bind("name", name)
        .map(Projects::project)
        .one();
  }

  public static Optional<Project> find(CallerHandle tenant, UUID id) {
    return tenant.query(FIND, id).map(Projects::project).findOne();
  }

  public static List<Project> list(CallerHandle tenant) {
    return tenant.query(LIST).map(Projects::project).list();
  }

  private static Project project(ResultSet row, StatementContext context) throws SQLException {
    return Project.newBuilder()
        .setId(row.getString("id"))
        .setName(row.getString("name"))
        .setOrganization(row.getString("organization"))
        .setCreateTime(Column.created(row))
        .build();
  }
}
