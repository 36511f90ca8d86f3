package io.github.grpcidempotency.postgres;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;
import org.jdbi.v3.core.statement.StatementContext;
import org.jspecify.annotations.Nullable;

/**
 * Several statements in one flush: one round trip, and in autocommit one implicit transaction. Only
 * the last statement's result is read.
 */
final class Flush {
  /** Reads one row. */
  interface RowReader<T> {
    T read(ResultSet row) throws SQLException;
  }

  private Flush() {}

  /** Runs the statements and reads the first row of the last one's result, if it has one. */
  static <T> Optional<T> run(
      Handle handle, String sql, UnaryOperator<Query> bindings, RowReader<T> reader) {
    try (Query query = handle.createQuery(sql)) {
      return bindings
          .apply(query)
          .execute((statement, context) -> readLast(statement.get(), context, reader));
    }
  }

  private static <T> Optional<T> readLast(
      PreparedStatement statement, StatementContext context, RowReader<T> reader)
      throws SQLException {
    try (context) {
      ResultSet last = lastResult(statement);
      return last != null && last.next() ? Optional.of(reader.read(last)) : Optional.empty();
    }
  }

  private static @Nullable ResultSet lastResult(Statement statement) throws SQLException {
    ResultSet last = statement.getResultSet();
    while (true) {
      if (statement.getMoreResults(Statement.KEEP_CURRENT_RESULT)) {
        last = statement.getResultSet();
      } else if (statement.getUpdateCount() >= 0) {
        last = null;
      } else {
        return last;
      }
    }
  }
}
