package io.github.grpcidempotency.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;
import org.postgresql.PGConnection;

/** Looks for anything that makes a pool's connections unfit for the library's statements. */
final class PoolCheck {
  private static final String CHECK_POOL = SqlFile.load("check/pool", Map.of());
  private static final String CHECK_FLUSH = SqlFile.load("check/flush", Map.of());

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
    return check(name, pool, PoolCheck::splitting);
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
      return problemOf(connection)
          .or(() -> special.apply(connection))
          .map(problem -> name + " " + problem);
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
                        + " nor prepareThreshold=-1 (they are %s and %d)")
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
