package io.github.grpcidempotency.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jdbi.v3.core.ConnectionException;

/** Takes connections from a pool, and keeps apart the failures before one was had. */
final class Connections {
  private Connections() {}

  /**
   * Takes a connection, which whoever asked gives back.
   *
   * @throws ConnectionException if none can be had
   */
  static Connection take(DataSource pool) {
    try {
      return pool.getConnection();
    } catch (SQLException failure) {
      throw new ConnectionException(failure);
    }
  }
}
