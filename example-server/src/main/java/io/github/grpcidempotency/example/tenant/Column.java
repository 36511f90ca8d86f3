package io.github.grpcidempotency.example.tenant;

import com.google.protobuf.Timestamp;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;

/** Reads what every resource table has. */
final class Column {
  private Column() {}

  static Timestamp created(ResultSet row) throws SQLException {
    Instant created = row.getObject("created", OffsetDateTime.class).toInstant();
    return Timestamp.newBuilder()
        .setSeconds(created.getEpochSecond())
        .setNanos(created.getNano())
        .build();
  }
}
