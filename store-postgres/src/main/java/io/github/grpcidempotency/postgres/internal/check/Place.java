package io.github.grpcidempotency.postgres.internal.check;

import io.github.grpcidempotency.postgres.internal.sql.SqlFiles;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The database that a connection leads to, and what its statements depend on there. */
record Place(String name, String id, String role, String searchPath, boolean readOnly) {
  private static final String PLACE = SqlFiles.WITHOUT_SCHEMA.load("check/place");

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

  /** Returns the problems of a place of handlers' transactions beside that of the store. */
  List<String> problemsBeside(Place store) {
    List<String> problems = new ArrayList<>();
    if (!name.equals(store.name) || !id.equals(store.id)) {
      problems.add(
          ("handlers' transactions are on another database (%s) than the store's pool (%s), so the"
                  + " handler's writes and the record cannot be committed together: use the same"
                  + " database for both")
              .formatted(name, store.name));
    }
    if (!role.equals(store.role)) {
      problems.add(
          ("handlers' transactions have the role %s, and the store's pool has the role %s;"
                  + " row-level security must apply to both in the same way: use the same role for"
                  + " both")
              .formatted(role, store.role));
    }
    if (readOnly && !store.readOnly) {
      problems.add(
          "handlers' transactions are read-only: configure the data source or the host's"
              + " transaction manager to begin transactions that can write");
    }
    return problems;
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
