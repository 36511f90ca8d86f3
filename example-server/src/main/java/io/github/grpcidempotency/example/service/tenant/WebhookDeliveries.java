package io.github.grpcidempotency.example.service.tenant;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.example.organization.v1.WebhookDelivery;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.statement.StatementContext;

/** {@code tenant.webhook_deliveries}. */
public final class WebhookDeliveries {
  private static final String INSERT =
      """
      INSERT INTO tenant.webhook_deliveries (id, user_id, organization, webhook_id, event, body)
      SELECT :id, id, organization, id, :event, :body
      FROM tenant.webhooks
      WHERE id = :webhookId AND organization = :organization
      RETURNING id, webhook_id, event, created
      """;

  private static final String LIST =
      """
      SELECT id, webhook_id, event, created FROM tenant.webhook_deliveries
      WHERE webhook_id = :id AND organization = :organization
      ORDER BY id DESC
      LIMIT 1000
      """;

  private WebhookDeliveries() {}

  /** Takes in what was delivered to the caller, a webhook; returns empty if it is gone. */
  public static Optional<WebhookDelivery> insert(
      CallerHandle tenant, UUID id, String event, ByteString body) {
    return tenant
        .query(INSERT, id)
        .bind("webhookId", tenant.caller().userId())
        .bind("event", event)
        .bind("body", body.toByteArray())
        .map(WebhookDeliveries::delivery)
        .findOne();
  }

  public static List<WebhookDelivery> list(CallerHandle tenant, UUID webhook) {
    return tenant.query(LIST, webhook).map(WebhookDeliveries::delivery).list();
  }

  private static WebhookDelivery delivery(ResultSet row, StatementContext context)
      throws SQLException {
    return WebhookDelivery.newBuilder()
        .setId(row.getString("id"))
        .setWebhook(row.getString("webhook_id"))
        .setEvent(row.getString("event"))
        .setCreateTime(Column.created(row))
        .build();
  }
}
