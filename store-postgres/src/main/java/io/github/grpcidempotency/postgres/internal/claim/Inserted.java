package io.github.grpcidempotency.postgres.internal.claim;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;
import java.util.UUID;

/**
 * A reservation that a claim has inserted.
 *
 * @param sent when the statement was sent, by {@link System#nanoTime}
 */
public record Inserted(UUID id, Instant expires, Optional<String> timeLine, long sent) {
  static Inserted read(ResultSet row, long sent) throws SQLException {
    return new Inserted(
        row.getObject("id", UUID.class),
        row.getObject("expires", OffsetDateTime.class).toInstant(),
        Optional.ofNullable(row.getString("time_line")),
        sent);
  }
}
