package io.github.grpcidempotency.postgres;

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

/** Looks for anything that makes a pool's connections unfit for the library's statements. */
final class PoolCheck {
  private static final Logger logger = LoggerFactory.getLogger(PoolCheck.class);
  private static final String CHECK_POOL = SqlFile.load("check/pool", Map.of());
  private static final String CHECK_FLUSH = SqlFile.load("check/flush", Map.of());
  private static final String CHECK_LEAK = SqlFile.load("check/leak", Map.of());
  private static final String CHECK_DURABILITY = SqlFile.load("check/durability", Map.of());

  /** One flush prepares the statements, one describes them, and the last one uses both. */
  private static final int FLUSHES = 3;

  private PoolCheck() {}

  /**
   * Returns what is wrong with a pool that claims and settles.
   *
   * @param name what to call it
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
   * Returns what is wrong with a pool that sends one statement at a time.
   *
   * @param name what to call it
   * @throws JdbiException if the database cannot be reached
   */
  static Optional<String> ofSingleStatements(String name, DataSource pool) {
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
                      ("%s is refused a login: \"%s\"; check its user, password and database, and"
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
          "must give connections in autocommit mode: without it, what was done is rolled back");
    }
    if (!connection.isWrapperFor(PGConnection.class)) {
      return Optional.of("must give connections of PgJDBC, or ones that unwrap to them");
    }
    if (connection.isReadOnly()) {
      return Optional.of("gives connections that are read-only: it must give ones that can write");
    }
    return StatementBatch.run(
        connection, CHECK_POOL, values -> values, row -> row.getString("problem"));
  }

  /** It may be what the host wants, for its own effects as well. */
  private static void warnOfLostCommits(String name, Connection connection) {
    if (StatementBatch.run(
            connection, CHECK_DURABILITY, values -> values, row -> row.getString("commits"))
        .isPresent()) {
      logger.warn(
          "{} commits with synchronous_commit = off: an answer that a client has got may be lost"
              + " with its effect when the database crashes, and a retry then runs again",
          name);
    }
  }

  /**
   * A pool without PostgreSQL's driver cannot report the setting, and is refused by another check.
   */
  private static void warnOfEndlessWaits(String name, Connection connection) {
    try {
      if (connection.getNetworkTimeout() == 0) {
        logger.warn(
            "{} sets no socketTimeout: if the database stops answering, the pool's connections and"
                + " their threads are blocked without end; set socketTimeout, in seconds, on the"
                + " JDBC URL, longer than the slowest statement and shorter than a lease",
            name);
      }
    } catch (SQLException | UnsupportedOperationException untold) {
      logger.debug("could not read the socketTimeout of {}", name, untold);
    }
  }

  /** What else runs on the connection would see the rows of a user who has set nothing in it. */
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
            "keeps a transaction's user after its end, so whoever gets the connection next may see"
                + " this user's rows; set_config(…, true) must end with its transaction")
        : Optional.empty();
  }

  /**
   * A flush of several statements is one transaction, and the user that is set in the first is set
   * in the others; but some settings of the driver let it send a flush in pieces, the first time or
   * once it has prepared the statements.
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
                ("sends the statements of a flush one by one: use neither preferQueryMode=simple"
                        + " nor prepareThreshold=-1 (they are %s and %d); or set_config(…, true) has no"
                        + " effect on the rest of its transaction")
                    .formatted(driver.getPreferQueryMode().value(), threshold));
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
