package io.github.grpcidempotency.postgres.internal.carry;

import io.github.grpcidempotency.postgres.HostTransaction;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.LastStatements;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.BiConsumer;
import org.jdbi.v3.core.JdbiException;

/**
 * The last statements of a host's transaction. They are sent together with the host's commit if
 * possible.
 */
public final class HostCommit {
  private HostCommit() {}

  /**
   * Sends the statements together with the host's commit, in one flush. If that is not possible,
   * runs the statements now. Called just before the host commits.
   *
   * @param connection the transaction's connection
   */
  public static void carry(
      HostTransaction transaction,
      Connection connection,
      LastStatements statements,
      BiConsumer<Connection, String> sender) {
    boolean carried =
        transaction.commitsByConnection()
            && StatementCarrier.of(connection)
                .filter(carrier -> carrier.carryLast(own -> commit(own, statements, sender)))
                .isPresent();
    if (!carried) {
      try {
        sender.accept(connection, statements.alone());
      } catch (JdbiException failure) {
        throw Failures.of("could not record the answer", failure);
      }
    }
  }

  /** Throws a failure of the database as the exception that the host expects from its commit. */
  private static void commit(
      Connection connection, LastStatements statements, BiConsumer<Connection, String> sender)
      throws SQLException {
    try {
      sender.accept(connection, statements.withCommit());
    } catch (JdbiException failure) {
      throw Failures.asSqlException(failure);
    }
  }
}
