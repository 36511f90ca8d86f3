package io.github.grpcidempotency.benchmarks.service;

import io.github.grpcidempotency.benchmarks.v1.Project;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;

/** What every variant does for its caller: one resource row and one outbox row. */
final class Effect {
  private static final String INSERT_PROJECT =
      "INSERT INTO app.project (id, user_id, name) VALUES (?, ?, ?)";
  private static final String SET_USER_AND_INSERT_PROJECT =
      "SELECT set_config('app.current_user_id', ?, true); " + INSERT_PROJECT;
  private static final String INSERT_OUTBOX =
      "INSERT INTO app.outbox (project_id, user_id, status) VALUES (?, ?, 'pending')";

  private static final String SET_USER_FIND_AND_INSERT_PROJECT =
      "SELECT set_config('app.current_user_id', ?, true);"
          + " SELECT response FROM app.answer WHERE idempotency_key = ? AND user_id = ?; "
          + INSERT_PROJECT;
  private static final String RECORD_AND_COMMIT =
      "INSERT INTO app.answer (idempotency_key, user_id, response) VALUES (?, ?, ?); COMMIT";

  private static final String SET_USER_AND_LOOK_UP =
      "SELECT set_config('app.current_user_id', ?, true); SELECT name FROM app.project WHERE id = ?";

  private Effect() {}

  /** Writes both rows; the user's setting travels with the first. Two round trips. */
  static void write(Connection connection, UUID user, Project project) throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(SET_USER_AND_INSERT_PROJECT)) {
      insert.setString(1, user.toString());
      bindProject(insert, 2, user, project);
      insert.execute();
    }
    writeOutbox(connection, user, project);
  }

  /** Writes both rows in a transaction that has its user set. Two round trips. */
  static void writeWithUserSet(Connection connection, UUID user, Project project)
      throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(INSERT_PROJECT)) {
      bindProject(insert, 1, user, project);
      insert.execute();
    }
    writeOutbox(connection, user, project);
  }

  /**
   * Writes both rows, the key and the answer, and commits; the key is looked up with the first row.
   * Three round trips.
   */
  static void writeWithRecord(Connection connection, UUID user, String key, Project project)
      throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(SET_USER_FIND_AND_INSERT_PROJECT)) {
      insert.setString(1, user.toString());
      insert.setString(2, key);
      insert.setObject(3, user);
      bindProject(insert, 4, user, project);
      insert.execute();
    }
    writeOutbox(connection, user, project);
    try (PreparedStatement insert = connection.prepareStatement(RECORD_AND_COMMIT)) {
      insert.setString(1, key);
      insert.setObject(2, user);
      insert.setBytes(3, project.toByteArray());
      insert.execute();
    }
  }

  /** Looks for a project that is not there; the user's setting travels along. One round trip. */
  static void lookUp(Connection connection, UUID user, Project project) throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(SET_USER_AND_LOOK_UP)) {
      select.setString(1, user.toString());
      select.setObject(2, UUID.fromString(project.getId()));
      select.execute();
    }
  }

  private static void bindProject(PreparedStatement insert, int first, UUID user, Project project)
      throws SQLException {
    insert.setObject(first, UUID.fromString(project.getId()));
    insert.setObject(first + 1, user);
    insert.setString(first + 2, project.getName());
  }

  private static void writeOutbox(Connection connection, UUID user, Project project)
      throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(INSERT_OUTBOX)) {
      insert.setObject(1, UUID.fromString(project.getId()));
      insert.setObject(2, user);
      insert.execute();
    }
  }
}
