package io.github.grpcidempotency.postgres.internal.check;

import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.driver.Driver;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.SqlFiles;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;
import org.jdbi.v3.core.ConnectionException;
import org.postgresql.PGConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks that the connections of a pool can run the library's statements. */
final class PoolCheck {
  private static final Logger logger = LoggerFactory.getLogger(PoolCheck.class);
  private static final String CHECK_POOL = SqlFiles.WITHOUT_SCHEMA.load("check/pool");
  private static final String CHECK_FLUSH = SqlFiles.WITHOUT_SCHEMA.load("check/flush");
  private static final String CHECK_LEAK = SqlFiles.WITHOUT_SCHEMA.load("check/leak");

  /**
   * The driver prepares the statements in the first flush, describes them in the second, and uses
   * both in the third.
   */
  private static final int FLUSHES = 3;

  private PoolCheck() {}

  private record Settings(String problem, boolean losesCommits) {}

  /** Returns the problem of a pool; empty if there is none. */
  static Optional<String> of(String name, DataSource pool) {
    try (Connection connection = RecordDatabase.connect(pool)) {
      warnOfEndlessWaits(name, connection);
      return problemOf(name, connection).map(problem -> name + " " + problem);
    } catch (ConnectionException failure) {
      return Optional.of(
          Failures.refusedLogin(failure)
              .map(
                  refusal ->
                      ("%s cannot log in: \"%s\"; check its user, password and database, and"
                              + " pg_hba.conf")
                          .formatted(name, refusal))
              .orElseThrow(() -> failure));
    } catch (SQLException failure) {
      throw Failures.asJdbiException(failure);
    }
  }

  private static Optional<String> problemOf(String name, Connection connection)
      throws SQLException {
    if (!connection.getAutoCommit()) {
      return Optional.of(
          "must give connections in autocommit mode: otherwise, the library's writes are rolled"
              + " back; Tomcat's pool needs jdbcInterceptors=ConnectionState");
    }
    if (!connection.isWrapperFor(PGConnection.class)) {
      return Optional.of(
          "must give connections of the PostgreSQL driver (PgJDBC), or connections that"
              + " unwrap to them");
    }
    if (connection.isReadOnly()) {
      return Optional.of(
          "gives connections that are read-only: configure it to give connections that"
              + " can write; Tomcat's pool needs jdbcInterceptors=ConnectionState");
    }
    Settings settings =
        StatementBatch.run(
                connection,
                CHECK_POOL,
                values -> values,
                row -> new Settings(row.getString("problem"), row.getBoolean("loses_commits")))
            .orElseThrow();
    if (!settings.problem().isEmpty()) {
      return Optional.of(settings.problem());
    }
    if (settings.losesCommits()) { // only a warning: the host may need this for its own writes
      logger.warn(
          "{} commits with synchronous_commit = off: a crash of the database may lose the"
              + " record and the handler's writes of a call that was already answered, and a retry"
              + " then runs the handler again. Set synchronous_commit = on for the pool",
          name);
    }
    return problemOfFlushes(connection);
  }

  /**
   * Warns if no socket timeout is set. A pool without the PostgreSQL driver cannot report the
   * setting; another check refuses such a pool.
   */
  private static void warnOfEndlessWaits(String name, Connection connection) {
    try {
      if (connection.getNetworkTimeout() == 0) {
        logger.warn(
            "{} sets no socketTimeout: if the database stops answering, the pool's connections and"
                + " their threads are blocked forever. Set socketTimeout, in seconds, on the JDBC"
                + " URL: longer than the slowest statement and shorter than a lease",
            name);
      }
    } catch (SQLException | UnsupportedOperationException untold) {
      logger.debug("could not read the socketTimeout of {}", name, untold);
    }
  }

  /**
   * Checks that a flush of several statements is one transaction, so that the user that the first
   * statement sets holds for the others. With some settings, the driver splits a flush, either the
   * first time or after it has prepared the statements.
   */
  private static Optional<String> problemOfFlushes(Connection connection) throws SQLException {
    PGConnection driver = connection.unwrap(PGConnection.class);
    int threshold = driver.getPrepareThreshold();
    String user = UUID.randomUUID().toString();
    try {
      driver.setPrepareThreshold(Math.min(threshold, 1));
      for (int flush = 0; flush < FLUSHES; flush++) {
        if (!userWithin(connection, CHECK_FLUSH, user).equals(user)) {
          return Optional.of(
              ("sends the statements of a flush separately, so set_config(…, true) has no effect"
                      + " on the statements after it. Its driver has preferQueryMode=%s and"
                      + " prepareThreshold=%d: a mode of simple, or a threshold of -1, does this")
                  .formatted(Driver.queryMode(driver), threshold));
        }
      }
    } finally {
      driver.setPrepareThreshold(threshold);
    }
    // Otherwise, later statements on the connection that set no user would see this user's rows.
    return userWithin(connection, CHECK_LEAK, user).equals(user)
        ? Optional.of(
            "keeps app.current_user_id after the end of the transaction, so the next user of the"
                + " connection may see this user's rows: the database, or the pooler in"
                + " front of it, must end set_config(…, true) with the transaction")
        : Optional.empty();
  }

  private static String userWithin(Connection connection, String statements, String user) {
    return StatementBatch.run(
            connection,
            statements,
            values -> values.bind("user", user),
            row -> row.getString("user_id"))
        .orElse("");
  }
}
