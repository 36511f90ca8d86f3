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

  private record Repeated(String sql, int times) {
    String text() {
      return String.join(";\n", Collections.nCopies(times, sql));
    }
  }

  public interface RowReader<T> {
    T read(ResultSet row) throws SQLException;
  }

  private interface Binder {
    void bind(PreparedStatement statement) throws SQLException;
  }

  /** Reads the results of all statements, in order. The result is empty if there are no rows. */
  private interface ResultReader<T> {
    T read(List<Optional<ResultSet>> results) throws SQLException;
  }

  public record Ends<F, L>(F first, Optional<L> last) {}

  /** Statements with question marks, and the name that each question mark stands for. */
  record Positional(String sql, List<String> names) {}

  private StatementBatch() {}

  static Positional positional(String sql) {
    // The context is used only in the error message for a text that cannot be parsed.
    ParsedSql parsed = new ColonPrefixSqlParser().parse(sql, null);
    return new Positional(parsed.getSql(), List.copyOf(parsed.getParameters().getParameterNames()));
  }

  /** Runs the statements, and reads none of their results. */
  public static void run(Connection connection, String sql, UnaryOperator<Parameters> bindings) {
    read(connection, sql, bindings, results -> true);
  }

  /** Runs the statements and reads the first row of the last one's result, if it has one. */
  public static <T> Optional<T> run(
      Connection connection, String sql, UnaryOperator<Parameters> bindings, RowReader<T> reader) {
    return read(connection, sql, bindings, results -> firstRow(last(results), reader));
  }

  public static <F> F runForFirst(
      Connection connection, String sql, UnaryOperator<Parameters> bindings, RowReader<F> reader) {
    return read(connection, sql, bindings, results -> requiredRow(results, reader));
  }

  /**
   * Runs the statements and reads the first row of the result of one of them.
   *
   * @param before the number of statements before that one
   */
  public static <S> S runForOne(
      Connection connection,
      String sql,
      int before,
      UnaryOperator<Parameters> bindings,
      RowReader<S> reader) {
    return read(
        connection,
        sql,
        bindings,
        results ->
            firstRow(results.get(before), reader)
                .orElseThrow(() -> new IllegalStateException("the statement returns no row")));
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
        results ->
            new Ends<>(requiredRow(results, firstReader), firstRow(last(results), lastReader)));
  }

  /** Runs the statements and reads the first rows of the first two results. */
  public static <F, S> Ends<F, S> runForFirstTwo(
      Connection connection,
      String sql,
      UnaryOperator<Parameters> bindings,
      RowReader<F> firstReader,
      RowReader<S> secondReader) {
    return read(
        connection,
        sql,
        bindings,
        results ->
            new Ends<>(
                requiredRow(results, firstReader),
                firstRow(
                    results.stream().flatMap(Optional::stream).skip(1).findFirst(), secondReader)));
  }

  public static <T> List<T> runForRows(
      Connection connection, String sql, UnaryOperator<Parameters> bindings, RowReader<T> reader) {
    return read(connection, sql, bindings, results -> rows(last(results), reader));
  }

  /**
   * Runs two statements, which set the user and read rows, for each of several calls in one flush.
   * Returns the rows of each call.
   */
  public static <C, T> List<List<T>> runForEach(
      Connection connection,
      String sql,
      List<C> calls,
      BiFunction<Parameters, C, Parameters> bindings,
      RowReader<T> reader) {
    Positional one = parse(sql);
    return execute(
        connection,
        REPEATED.computeIfAbsent(new Repeated(one.sql(), calls.size()), Repeated::text),
        statement -> {
          for (int call = 0; call < calls.size(); call++) {
            bindings
                .apply(new Parameters(one.names()), calls.get(call))
                .setOn(statement, call * one.names().size());
          }
        },
        results -> {
          List<List<T>> rows = new ArrayList<>();
          for (int call = 0; call < calls.size(); call++) {
            rows.add(rows(results.get(2 * call + 1), reader));
          }
          return rows;
        });
  }

  private static <T> T read(
      Connection connection,
      String sql,
      UnaryOperator<Parameters> bindings,
      ResultReader<T> reader) {
    Positional parsed = parse(sql);
    return execute(
        connection,
        parsed.sql(),
        statement -> bindings.apply(new Parameters(parsed.names())).setOn(statement),
        reader);
  }

  private static Positional parse(String sql) {
    Positional known = PARSED.get(sql);
    return known != null ? known : PARSED.computeIfAbsent(sql, StatementBatch::positional);
  }

  private static <T> T execute(
      Connection connection, String text, Binder parameters, ResultReader<T> reader) {
    List<Optional<ResultSet>> results = new ArrayList<>();
    try (PreparedStatement statement = connection.prepareStatement(text)) {
      parameters.bind(statement);
      statement.execute();
      try {
        do {
          results.add(Optional.ofNullable(statement.getResultSet()));
        } while (statement.getMoreResults(Statement.KEEP_CURRENT_RESULT)
            || statement.getUpdateCount() >= 0);
        return reader.read(results);
      } finally {
        // Some pools report results that only their statement closes as leaks.
        for (Optional<ResultSet> result : results) {
          if (result.isPresent()) {
            result.get().close();
          }
        }
      }
    } catch (SQLException failure) {
      throw Failures.asJdbiException(failure);
    }
  }

  private static <T> Optional<T> firstRow(Optional<ResultSet> result, RowReader<T> reader)
      throws SQLException {
    return result.isPresent() && result.get().next()
        ? Optional.of(reader.read(result.get()))
        : Optional.empty();
  }

  private static <T> T requiredRow(List<Optional<ResultSet>> results, RowReader<T> reader)
      throws SQLException {
    Optional<ResultSet> first = results.stream().flatMap(Optional::stream).findFirst();
    return firstRow(first, reader)
        .orElseThrow(() -> new IllegalStateException("the flush returns no row"));
  }

  private static <T> List<T> rows(Optional<ResultSet> result, RowReader<T> reader)
      throws SQLException {
    List<T> rows = new ArrayList<>();
    while (result.isPresent() && result.get().next()) {
      rows.add(reader.read(result.get()));
    }
    return rows;
  }

  private static Optional<ResultSet> last(List<Optional<ResultSet>> results) {
    return results.get(results.size() - 1);
  }
}
