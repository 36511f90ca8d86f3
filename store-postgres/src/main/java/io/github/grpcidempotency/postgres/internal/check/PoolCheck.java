package io.github.grpcidempotency.postgres.internal.check;

import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.driver.Driver;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.SqlFile;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jdbi.v3.core.ConnectionException;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;
import org.postgresql.PGConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks that the connections of a pool can run the library's statements. */
public final class PoolCheck {
  private static final Logger logger = LoggerFactory.getLogger(PoolCheck.class);
  private static final String CHECK_POOL = SqlFile.load("check/pool", Map.of());
  private static final String CHECK_FLUSH = SqlFile.load("check/flush", Map.of());
  private static final String CHECK_LEAK = SqlFile.load("check/leak", Map.of());
  private static final String CHECK_DURABILITY = SqlFile.load("check/durability", Map.of());

  /**
   * The driver prepares the statements in the first flush, describes them in the second, and uses
   * both in the third.
   */
  private static final int FLUSHES = 3;

  private PoolCheck() {}

  /**
   * Returns the problem of a pool that claims and settles; empty if there is none.
   *
   * @param name the pool's name in messages
   * @throws JdbiException if the database cannot be reached
   */
  static Optional<String> ofFlushes(String name, DataSource pool) {
    return check(
        name,
        pool,
        connection -> {
          warnOfLostCommits(name, connection);
          return splitting(connection).or(() -> leaking(connection));
        });
  }

  /**
   * Returns the problem of a pool that sends one statement at a time; empty if there is none.
   *
   * @param name the pool's name in messages
   * @throws JdbiException if the database cannot be reached
   */
  public static Optional<String> ofSingleStatements(String name, DataSource pool) {
    return check(name, pool, connection -> Optional.empty());
  }

  private static Optional<String> check(
      String name, DataSource pool, Function<Connection, Optional<String>> special) {
    try (Connection connection = RecordDatabase.connect(pool)) {
      warnOfEndlessWaits(name, connection);
      return problemOf(connection)
          .or(() -> special.apply(connection))
          .map(problem -> name + " " + problem);
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
      throw new UnableToExecuteStatementException(failure, null);
    }
  }

  private static Optional<String> problemOf(Connection connection) throws SQLException {
    if (!connection.getAutoCommit()) {
      return Optional.of(
          "must give connections in autocommit mode: otherwise, the library's writes are rolled"
              + " back");
    }
    if (!connection.isWrapperFor(PGConnection.class)) {
      return Optional.of(
          "must give connections of the PostgreSQL driver (PgJDBC), or connections that"
              + " unwrap to them");
    }
    if (connection.isReadOnly()) {
      return Optional.of(
          "gives connections that are read-only: configure it to give connections that"
              + " can write");
    }
    return StatementBatch.run(
        connection, CHECK_POOL, values -> values, row -> row.getString("problem"));
  }

  /** Only warns, because the host may need this setting for its own writes. */
  private static void warnOfLostCommits(String name, Connection connection) {
    if (StatementBatch.run(
            connection, CHECK_DURABILITY, values -> values, row -> row.getString("commits"))
        .isPresent()) {
      logger.warn(
          "{} commits with synchronous_commit = off: a crash of the database may lose the"
              + " record and the handler's writes of a call that was already answered, and a retry"
              + " then runs the handler again. Set synchronous_commit = on for the pool",
          name);
    }
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
   * Checks that the user's setting ends with its transaction. Otherwise, later statements on the
   * connection that set no user would see this user's rows.
   */
  private static Optional<String> leaking(Connection connection) {
    String user = UUID.randomUUID().toString();
    UnaryOperator<Parameters> bindings = values -> values.bind("user", user);
    Optional<String> unused =
        StatementBatch.run(connection, CHECK_FLUSH, bindings, row -> row.getString("user_id"));
    boolean kept =
        StatementBatch.run(connection, CHECK_LEAK, bindings, row -> row.getBoolean("kept"))
            .orElse(false);
    return kept
        ? Optional.of(
            "keeps app.current_user_id after the end of the transaction, so the next user of the"
                + " connection may see this user's rows: the database, or the pooler in"
                + " front of it, must end set_config(…, true) with the transaction")
        : Optional.empty();
  }

  /**
   * Checks that a flush of several statements is one transaction, so that the user that the first
   * statement sets holds for the others. With some settings, the driver splits a flush, either the
   * first time or after it has prepared the statements.
   */
  private static Optional<String> splitting(Connection connection) {
    try {
      PGConnection driver = connection.unwrap(PGConnection.class);
      int threshold = driver.getPrepareThreshold();
      try {
        driver.setPrepareThreshold(Math.min(threshold, 1));
        return keepsTogether(connection)
            ? Optional.empty()
            : Optional.of(
                ("sends the statements of a flush separately, so set_config(…, true) has no effect"
                        + " on the statements after it. Its driver has preferQueryMode=%s and"
                        + " prepareThreshold=%d: a mode of simple, or a threshold of -1, does this")
                    .formatted(Driver.queryMode(driver), threshold));
      } finally {
        driver.setPrepareThreshold(threshold);
      }
    } catch (SQLException failure) {
      throw new UnableToExecuteStatementException(failure, null);
    }
  }

  private static boolean keepsTogether(Connection connection) {
    for (int flush = 0; flush < FLUSHES; flush++) {
      String user = UUID.randomUUID().toString();
      Optional<String> kept =
          StatementBatch.run(
              connection,
              CHECK_FLUSH,
              values -> values.bind("user", user),
              row -> row.getString("user_id"));
      if (!kept.equals(Optional.of(user))) {
        return false;
      }
    }
    return true;
  }
}
