package io.github.grpcidempotency.postgres;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;

/**
 * Several statements in one flush: one round trip, and in autocommit one implicit transaction. The
 * last statement's result is read, and the first one's where it is asked for.
 */
final class Flush {
  /** Reads one row. */
  interface RowReader<T> {
    T read(ResultSet row) throws SQLException;
  }

  /** What the first and the last statement of a flush returned. */
  record Ends<F, L>(F first, Optional<L> last) {}

  private Flush() {}

  /** Runs the statements and reads the first row of the last one's result, if it has one. */
  static <T> Optional<T> run(
      Handle handle, String sql, UnaryOperator<Query> bindings, RowReader<T> reader) {
    try (Query query = handle.createQuery(sql)) {
      return bindings
          .apply(query)
          .execute(
              (supplier, context) -> {
                try (context) {
                  return readLast(supplier.get(), reader);
                }
              });
    }
  }

  /**
   * Runs the statements and reads the first row of the first one's result, and of the last one's.
   */
  static <F, L> Ends<F, L> runForBoth(
      Handle handle,
      String sql,
      UnaryOperator<Query> bindings,
      RowReader<F> firstReader,
      RowReader<L> lastReader) {
    try (Query query = handle.createQuery(sql)) {
      return bindings
          .apply(query)
          .execute(
              (supplier, context) -> {
                try (context) {
                  PreparedStatement statement = supplier.get();
                  F first = firstReader.read(firstRow(statement.getResultSet()));
                  return new Ends<>(first, readLast(statement, lastReader));
                }
              });
    }
  }

  private static ResultSet firstRow(@Nullable ResultSet result) throws SQLException {
    if (result == null || !result.next()) {
      throw new IllegalStateException("the first statement of the flush has no row");
    }
    return result;
  }

  private static <T> Optional<T> readLast(PreparedStatement statement, RowReader<T> reader)
      throws SQLException {
    ResultSet last = lastResult(statement);
    return last != null && last.next() ? Optional.of(reader.read(last)) : Optional.empty();
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
