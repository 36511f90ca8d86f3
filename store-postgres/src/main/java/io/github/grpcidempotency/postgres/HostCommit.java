package io.github.grpcidempotency.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.transaction.TransactionException;

/** The last statements of a transaction of the host, which its commit takes with it if it can. */
final class HostCommit {
  /** Runs the last statements, and fails if they do. */
  interface Sender {
    void run(Connection connection, String statements);
  }

  private HostCommit() {}

  /**
   * Lets the host's commit take the statements with it, in one flush. If that is not possible they
   * run now. Called just before the host commits.
   *
   * @param connection the transaction's
   */
  static void carry(
      HostTransaction transaction,
      Connection connection,
      LastStatements statements,
      Sender sender) {
    boolean carried =
        transaction.commitsByConnection()
            && isCarried(connection, own -> commit(own, statements, sender));
    if (!carried) {
      sender.run(connection, statements.alone());
    }
  }

  private static boolean isCarried(Connection connection, TrailingStatements statements) {
    try {
      return connection.isWrapperFor(StatementCarrier.class)
          && connection.unwrap(StatementCarrier.class).carryLast(statements);
    } catch (SQLException failure) {
      throw new TransactionException("could not use the host's connection", failure);
    }
  }

  /** The host gets a failure of the database as that of its own commit. */
  private static void commit(Connection connection, LastStatements statements, Sender sender)
      throws SQLException {
    try {
      sender.run(connection, statements.withCommit());
    } catch (JdbiException failure) {
      if (failure.getCause() instanceof SQLException ofDatabase) {
        throw ofDatabase;
      }
      throw failure;
    }
  }
}
