package io.github.grpcidempotency.example.service.tenant;

import com.google.protobuf.Timestamp;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;

/** Reads what every resource table has. */
final class Column {
  private Column() {}

  static Timestamp created(ResultSet row) throws SQLException {
    return time(row, "created").orElseThrow();
  }

  /** Returns empty for null. */
  static Optional<Timestamp> time(ResultSet row, String column) throws SQLException {
    return Optional.ofNullable(row.getObject(column, OffsetDateTime.class))
        .map(OffsetDateTime::toInstant)
        .map(Column::timestamp);
  }

  private static Timestamp timestamp(Instant instant) {
    return Timestamp.newBuilder()
        .setSeconds(instant.getEpochSecond())
        .setNanos(instant.getNano())
        .build();
  }
}
