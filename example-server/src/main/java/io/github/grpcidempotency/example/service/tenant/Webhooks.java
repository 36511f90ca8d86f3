package io.github.grpcidempotency.example.service.tenant;

import io.github.grpcidempotency.example.organization.v1.RegisterWebhookRequest;
import io.github.grpcidempotency.example.organization.v1.Webhook;
import io.github.grpcidempotency.example.service.webhook.OpaqueId;
import io.github.grpcidempotency.example.service.webhook.Provider;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.statement.StatementContext;

/** {@code tenant.webhooks}, whose secrets are written here and cannot be read. */
public final class Webhooks {
  private static final String INSERT =
      """
      INSERT INTO tenant.webhooks (
        id, user_id, organization, project_id, opaque_id, provider, signing_secret, public_url
      )
      SELECT :id, user_id, organization, id, :opaqueId, :provider, :signingSecret, :publicUrl
      FROM tenant.projects
      WHERE id = :parentId AND organization = :organization
      RETURNING id, project_id, opaque_id, provider, public_url, created
      """;

  private Webhooks() {}

  /** Returns empty if the caller sees no such project. */
  public static Optional<Webhook> insert(
      CallerHandle tenant,
      UUID id,
      UUID projectId,
      Provider provider,
      RegisterWebhookRequest request) {
    return tenant
        .query(INSERT, id)
        .bind("parentId", projectId)
        .bind("opaqueId", OpaqueId.create())
        .bind("provider", provider.word())
        .bind("signingSecret", request.getSigningSecret())
        .bind("publicUrl", request.getPublicUrl())
        .map(Webhooks::webhook)
        .findOne();
  }

  private static Webhook webhook(ResultSet row, StatementContext context) throws SQLException {
    return Webhook.newBuilder()
        .setId(row.getString("id"))
        .setProjectId(row.getString("project_id"))
        .setProvider(Provider.of(row.getString("provider")).inApi())
        .setWebhookId(row.getString("opaque_id"))
        .setPublicUrl(row.getString("public_url"))
        .setCreateTime(Column.created(row))
        .build();
  }
}
