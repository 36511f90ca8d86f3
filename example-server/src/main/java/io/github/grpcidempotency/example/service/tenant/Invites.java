package io.github.grpcidempotency.example.service.tenant;

import io.github.grpcidempotency.example.organization.v1.Invite;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import org.jdbi.v3.core.statement.StatementContext;

/** {@code tenant.invites}. */
public final class Invites {
  private static final String INSERT =
      """
      INSERT INTO tenant.invites (id, user_id, organization, email, role, link_sha256)
      VALUES (:id, :userId, :organization, :email, :role, :linkSha256)
      RETURNING *
      """;

  private static final String LIST =
      """
      SELECT * FROM tenant.invites
      WHERE organization = :organization
      ORDER BY id DESC
      LIMIT 1000
      """;

  private Invites() {}

  /**
   * Returns what was inserted.
   *
   * @param linkSha256 all that is kept of the link by which the invitation is accepted
   */
  public static Invite insert(
      CallerHandle tenant, UUID id, String email, String role, byte[] linkSha256) {
    return tenant
        .query(INSERT, id)
        .bind("userId", tenant.caller().userId())
        .bind("email", email)
        .bind("role", role)
        .bind("linkSha256", linkSha256)
        .map(Invites::invite)
        .one();
  }

  public static List<Invite> list(CallerHandle tenant) {
    return tenant.query(LIST).map(Invites::invite).list();
  }

  private static Invite invite(ResultSet row, StatementContext context) throws SQLException {
    return Invite.newBuilder()
        .setId(row.getString("id"))
        .setOrganization(row.getString("organization"))
        .setEmail(row.getString("email"))
        .setRole(row.getString("role"))
        .setCreateTime(Column.created(row))
        .build();
  }
}
