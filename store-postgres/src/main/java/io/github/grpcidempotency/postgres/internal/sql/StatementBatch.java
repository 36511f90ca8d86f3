package io.github.grpcidempotency.postgres.internal.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.statement.ColonPrefixSqlParser;
import org.jdbi.v3.core.statement.ParsedSql;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;
import org.jspecify.annotations.Nullable;

/**
 * Several statements in one flush: one round trip, and in autocommit mode one implicit transaction.
 * The result of the last statement is read, and the result of the first one if it is needed.
 *
 * <p>Every call uses this class, so it calls the driver directly, without a Jdbi statement and its
 * copy of the configuration. Jdbi only parses the named parameters, once for each text.
 */
public final class StatementBatch {
  private static final Map<String, Positional> PARSED = new ConcurrentHashMap<>();
  private static final Map<Repeated, String> REPEATED = new ConcurrentHashMap<>();

  /** Statements that are sent several times in one flush. */
  private record Repeated(String sql, int times) {
    String text() {
      return String.join(";\n", Collections.nCopies(times, sql));
    }
  }

  public interface RowReader<T> {
    T read(ResultSet row) throws SQLException;
  }

  private interface ResultReader<T> {
    T read(Results results) throws SQLException;
  }

  /**
   * Closes every result of a statement, because some pools report results that only their statement
   * closes as leaks.
   */
  private static final class Results implements AutoCloseable {
    private final Statement statement;
    private final List<ResultSet> open = new ArrayList<>();

    Results(Statement statement) {
      this.statement = statement;
    }

    @Nullable ResultSet current() throws SQLException {
      ResultSet current = statement.getResultSet();
      if (current != null) {
        open.add(current);
      }
      return current;
    }

    @Override
    public void close() throws SQLException {
      for (ResultSet result : open) {
        result.close();
      }
    }
  }

  /** The results of a flush's first and last query. */
  public record Ends<F, L>(F first, Optional<L> last) {}

  /** Statements with question marks, and the name that each question mark stands for. */
  record Positional(String sql, Parameters.Names names) {}

  private StatementBatch() {}

  static Positional positional(String sql) {
    // The context is used only in the error message for a text that cannot be parsed.
    ParsedSql parsed = new ColonPrefixSqlParser().parse(sql, null);
    return new Positional(
        parsed.getSql(), new Parameters.Names(parsed.getParameters().getParameterNames()));
  }

  /** Runs the statements and reads the first row of the last one's result, if it has one. */
  public static <T> Optional<T> run(
      Connection connection, String sql, UnaryOperator<Parameters> bindings, RowReader<T> reader) {
    return read(connection, sql, bindings, results -> readLast(results, reader));
  }

  /** Runs the statements and reads the first row of the first result. */
  public static <F> F runForFirst(
      Connection connection,
      String sql,
      UnaryOperator<Parameters> bindings,
      RowReader<F> firstReader) {
    return read(connection, sql, bindings, results -> readFirst(results, firstReader));
  }

  /**
   * Runs the statements and reads the first row of the first result and that of the last statement.
   */
  public static <F, L> Ends<F, L> runForBoth(
      Connection connection,
      String sql,
      UnaryOperator<Parameters> bindings,
      RowReader<F> firstReader,
      RowReader<L> lastReader) {
    return read(
        connection,
        sql,
        bindings,
        results -> new Ends<>(readFirst(results, firstReader), readLast(results, lastReader)));
  }

  /**
   * Runs the statements and reads every row of every result, except those of {@code set_config},
   * which set the user for the next statement.
   */
  public static <T> List<T> runForAll(
      Connection connection, String sql, UnaryOperator<Parameters> bindings, RowReader<T> reader) {
    return read(connection, sql, bindings, results -> readAll(results, reader));
  }

  /** Runs the statements and reads every row of the last one's result. */
  public static <T> List<T> runForRows(
      Connection connection, String sql, UnaryOperator<Parameters> bindings, RowReader<T> reader) {
    return read(
        connection,
        sql,
        bindings,
        results -> {
          List<T> rows = new ArrayList<>();
          ResultSet last = lastResult(results);
          while (last != null && last.next()) {
            rows.add(reader.read(last));
          }
          return rows;
        });
  }

  /**
   * Runs two statements, which set the user and read a row, for each of several calls in one flush.
   * Returns the row of each call, if it has one.
   */
  public static <C, T> List<Optional<T>> runForEach(
      Connection connection,
      String sql,
      List<C> calls,
      BiFunction<Parameters, C, Parameters> bindings,
      RowReader<T> reader) {
    Positional one = parse(sql);
    String all = REPEATED.computeIfAbsent(new Repeated(one.sql(), calls.size()), Repeated::text);
    try (PreparedStatement statement = connection.prepareStatement(all);
        Results results = new Results(statement)) {
      for (int call = 0; call < calls.size(); call++) {
        bindings
            .apply(new Parameters(one.names()), calls.get(call))
            .setOn(statement, call * one.names().count());
      }
      statement.execute();
      return readEach(results, reader);
    } catch (SQLException failure) {
      throw new UnableToExecuteStatementException(failure, null);
    }
  }

  private static <T> T read(
      Connection connection,
      String sql,
      UnaryOperator<Parameters> bindings,
      ResultReader<T> reader) {
    Positional parsed = parse(sql);
    try (PreparedStatement statement = execute(connection, parsed, bindings);
        Results results = new Results(statement)) {
      return reader.read(results);
    } catch (SQLException failure) {
      throw new UnableToExecuteStatementException(failure, null);
    }
  }

  private static Positional parse(String sql) {
    Positional known = PARSED.get(sql);
    return known != null ? known : PARSED.computeIfAbsent(sql, StatementBatch::positional);
  }

  private static PreparedStatement execute(
      Connection connection, Positional parsed, UnaryOperator<Parameters> bindings)
      throws SQLException {
    PreparedStatement statement = connection.prepareStatement(parsed.sql());
    try {
      bindings.apply(new Parameters(parsed.names())).setOn(statement);
      statement.execute();
      return statement;
    } catch (SQLException | RuntimeException failure) {
      try (statement) {
        throw failure;
      }
    }
  }

  private static <F> F readFirst(Results results, RowReader<F> reader) throws SQLException {
    ResultSet first = results.current();
    while (first == null && results.statement.getUpdateCount() >= 0) {
      first = results.statement.getMoreResults() ? results.current() : null;
    }
    if (first == null || !first.next()) {
      throw new IllegalStateException("the flush returns no row");
    }
    return reader.read(first);
  }

  private static <T> Optional<T> readLast(Results results, RowReader<T> reader)
      throws SQLException {
    ResultSet last = lastResult(results);
    return last != null && last.next() ? Optional.of(reader.read(last)) : Optional.empty();
  }

  private static <T> List<T> readAll(Results results, RowReader<T> reader) throws SQLException {
    List<T> rows = new ArrayList<>();
    for (ResultSet result = results.current();
        result != null;
        result = results.statement.getMoreResults() ? results.current() : null) {
      while (!isSetting(result) && result.next()) {
        rows.add(reader.read(result));
      }
    }
    return rows;
  }

  private static <T> List<Optional<T>> readEach(Results results, RowReader<T> reader)
      throws SQLException {
    List<Optional<T>> rows = new ArrayList<>();
    boolean setsUser = true;
    for (ResultSet result = results.current();
        result != null;
        result = results.statement.getMoreResults() ? results.current() : null) {
      if (!setsUser) {
        rows.add(result.next() ? Optional.of(reader.read(result)) : Optional.empty());
      }
      setsUser = !setsUser;
    }
    return rows;
  }

  private static boolean isSetting(ResultSet result) throws SQLException {
    return result.getMetaData().getColumnLabel(1).equals("set_config");
  }

  private static @Nullable ResultSet lastResult(Results results) throws SQLException {
    ResultSet last = results.current();
    while (true) {
      if (results.statement.getMoreResults(Statement.KEEP_CURRENT_RESULT)) {
        last = results.current();
      } else if (results.statement.getUpdateCount() >= 0) {
        last = null;
      } else {
        return last;
      }
    }
  }
}
