package io.github.grpcidempotency.postgres.internal.check;

import io.github.grpcidempotency.postgres.internal.sql.SqlFile;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;

/** The database that a connection leads to, and what its statements depend on there. */
record Place(String name, String id, String role, String searchPath, boolean readOnly) {
  private static final String PLACE = SqlFile.load("check/place", Map.of());

  static Place of(Connection connection) {
    return StatementBatch.run(connection, PLACE, values -> values, Place::read).orElseThrow();
  }

  private static Place read(ResultSet row) throws SQLException {
    return new Place(
        row.getString("database"),
        row.getString("id"),
        row.getString("role"),
        row.getString("search_path"),
        row.getBoolean("read_only"));
  }

  boolean isDatabaseOf(Place other) {
    return name.equals(other.name) && id.equals(other.id);
  }

  /**
   * Returns the problem of a pool that gave this place and another one; empty if they are equal.
   */
  Optional<String> problemBeside(Place other) {
    return equals(other)
        ? Optional.empty()
        : Optional.of(
            ("the store's pool gave connections to different places, %s and %s, but the store's"
                    + " calls share statements: give the store's builder the pool of one database"
                    + " as connections(…)")
                .formatted(this, other));
  }
}
