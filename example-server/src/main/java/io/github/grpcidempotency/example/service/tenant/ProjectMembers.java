package io.github.grpcidempotency.example.service.tenant;

import io.github.grpcidempotency.example.organization.v1.ProjectMember;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.statement.StatementContext;

/** {@code tenant.project_members}. */
public final class ProjectMembers {
  private static final String INSERT =
      """
      INSERT INTO tenant.project_members (id, user_id, organization, project_id, member_user_id, role)
      SELECT :id, user_id, organization, id, :memberUserId, :role
      FROM tenant.projects
      WHERE id = :parentId AND organization = :organization
      RETURNING *
      """;

  private static final String LIST =
      """
      SELECT * FROM tenant.project_members
      WHERE project_id = :id AND organization = :organization
      ORDER BY id DESC
      LIMIT 1000
      """;

  private ProjectMembers() {}

  /** Returns empty if the caller sees no such project. */
  public static Optional<ProjectMember> insert(
      CallerHandle tenant, UUID id, UUID projectId, UUID memberUserId, String role) {
    return tenant
        .query(INSERT, id)
        .bind("parentId", projectId)
        .bind("memberUserId", memberUserId)
        .bind("role", role)
        .map(ProjectMembers::projectMember)
        .findOne();
  }

  public static List<ProjectMember> list(CallerHandle tenant, UUID projectId) {
    return tenant.query(LIST, projectId).map(ProjectMembers::projectMember).list();
  }

  private static ProjectMember projectMember(ResultSet row, StatementContext context)
      throws SQLException {
    return ProjectMember.newBuilder()
        .setId(row.getString("id"))
        .setProjectId(row.getString("project_id"))
        .setUserId(row.getString("member_user_id"))
        .setRole(row.getString("role"))
        .setCreateTime(Column.created(row))
        .build();
  }
}
