package io.github.grpcidempotency.benchmarks.service;

import io.github.grpcidempotency.benchmarks.v1.Project;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;

/** The effect of every variant: one resource row and one outbox row. */
final class Effect {
  static final String SET_USER = "SELECT set_config('app.current_user_id', ?, true)";

  private static final String INSERT_PROJECT =
      "INSERT INTO app.project (id, user_id, name) VALUES (?, ?, ?)";
  private static final String INSERT_OUTBOX =
      "INSERT INTO app.outbox (project_id, user_id, status) VALUES (?, ?, 'pending')";
  private static final String FIND =
      "SELECT response FROM app.answer WHERE idempotency_key = ? AND user_id = ?";
  private static final String RECORD_AND_COMMIT =
      "INSERT INTO app.answer (idempotency_key, user_id, response) VALUES (?, ?, ?); COMMIT";
  private static final String LOOK_UP = "SELECT name FROM app.project WHERE id = ?";

  private Effect() {}

  /** Writes both rows. The user's setting is sent with the first row. Two round trips. */
  static void write(Connection connection, UUID user, Project project) throws SQLException {
    UUID id = UUID.fromString(project.getId());
    String sql = SET_USER + "; " + INSERT_PROJECT;
    execute(connection, sql, user.toString(), id, user, project.getName());
    execute(connection, INSERT_OUTBOX, id, user);
  }

  /** Writes both rows in a transaction whose user is set. Two round trips. */
  static void writeWithUserSet(Connection connection, UUID user, Project project)
      throws SQLException {
    UUID id = UUID.fromString(project.getId());
    execute(connection, INSERT_PROJECT, id, user, project.getName());
    execute(connection, INSERT_OUTBOX, id, user);
  }

  /**
   * Writes both rows, the key and the answer, and commits; the key is looked up with the first row.
   * Three round trips.
   */
  static void writeWithRecord(Connection connection, UUID user, String key, Project project)
      throws SQLException {
    UUID id = UUID.fromString(project.getId());
    String sql = SET_USER + "; " + FIND + "; " + INSERT_PROJECT;
    execute(connection, sql, user.toString(), key, user, id, user, project.getName());
    execute(connection, INSERT_OUTBOX, id, user);
    execute(connection, RECORD_AND_COMMIT, key, user, project.toByteArray());
  }

  /**
   * Looks for a project that does not exist; the user's setting is sent with the query. One round
   * trip.
   */
  static void lookUp(Connection connection, UUID user, Project project) throws SQLException {
    UUID id = UUID.fromString(project.getId());
    execute(connection, SET_USER + "; " + LOOK_UP, user.toString(), id);
  }

  static void execute(Connection connection, String sql, Object... values) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) {
        statement.setObject(i + 1, values[i]);
      }
      statement.execute();
    }
  }
}
