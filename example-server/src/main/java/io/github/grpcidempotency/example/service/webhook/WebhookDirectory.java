package io.github.grpcidempotency.example.service.webhook;

import io.github.grpcidempotency.store.StoreException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.statement.StatementContext;

/**
 * Finds webhooks for deliveries, which come without a user: through a function that runs as the
 * schema's owner, and returns only the webhook whose opaque id is given. Blocks. Thread-safe.
 */
public final class WebhookDirectory {
  private static final Pattern OPAQUE_ID = Pattern.compile("whk_[A-Za-z0-9_-]{43}");
  private static final String FIND = "SELECT * FROM tenant.find_webhook(:opaqueId)";

  private final Jdbi jdbi;

  /** Creates the directory on a pool of the application's role. */
  public WebhookDirectory(Jdbi jdbi) {
    this.jdbi = jdbi;
  }

  /**
   * A webhook that was looked up.
   *
   * @param asked when, by the database's clock
   */
  record Found(Registration webhook, Instant asked) {}

  /**
   * Returns the webhook that a delivery names, if there is one.
   *
   * @throws StoreException if the database cannot be reached
   */
  Optional<Found> find(String opaqueId) {
    if (!OPAQUE_ID.matcher(opaqueId).matches()) {
      return Optional.empty();
    }
    try {
      return jdbi.withHandle(
          handle ->
              handle
                  .createQuery(FIND)
                  .bind("opaqueId", opaqueId)
                  .map(WebhookDirectory::found)
                  .findOne());
    } catch (JdbiException unreachable) {
      throw new StoreException("the webhook could not be looked up", unreachable);
    }
  }

  private static Found found(ResultSet row, StatementContext context) throws SQLException {
    return new Found(
        new Registration(
            row.getObject("id", UUID.class),
            row.getString("organization"),
            row.getObject("project_id", UUID.class),
            Scheme.of(row.getString("provider")),
            row.getString("signing_secret")),
        row.getObject("asked", OffsetDateTime.class).toInstant());
  }
}
