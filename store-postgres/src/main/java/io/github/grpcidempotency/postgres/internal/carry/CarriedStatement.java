package io.github.grpcidempotency.postgres.internal.carry;

import io.github.grpcidempotency.postgres.internal.driver.Driver;
import io.github.grpcidempotency.postgres.internal.driver.JdbcProxy;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.temporal.Temporal;
import java.util.ArrayList;
import java.util.Calendar;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PGobject;
import org.postgresql.util.PSQLException;
import org.postgresql.util.PSQLState;

/**
 * A handler's statement. If it is the first statement that the handler executes, the leading
 * statements travel with it:
 *
 * <ol>
 *   <li>It is prepared together with the leading statements. The index of each parameter is
 *       shifted, and each setter call is remembered.
 *   <li>When it is executed and the leading statements are not sent yet, both are sent together.
 *       The results of the leading statements are read here; the handler gets only the results of
 *       its own statement.
 *   <li>When it is executed later, or when a method is called that is not known to be harmless, it
 *       is prepared again as the handler wrote it, and the remembered setter calls are repeated.
 *       Results of the first execution stay readable until the next execution.
 * </ol>
 */
final class CarriedStatement extends JdbcProxy<PreparedStatement> {
  private static final Set<Method> EXECUTIONS =
      named("execute executeLargeUpdate executeQuery executeUpdate");
  private static final Set<Method> BATCHES = named("executeBatch executeLargeBatch");
  private static final Set<Method> SETTERS =
      named(
          "setArray setBigDecimal setBoolean setByte setBytes setDate setDouble setFloat setInt"
              + " setLong setNString setNull setObject setShort setString setTime setTimestamp");
  private static final Set<Method> ROW_LIMITS = named("setFetchSize setMaxRows");

  /** These methods concern the results of the last execution. */
  private static final Set<Method> OF_RESULTS =
      named(
          "clearWarnings getGeneratedKeys getLargeUpdateCount getMoreResults getResultSet"
              + " getUpdateCount getWarnings");

  /** These methods have the same effect with and without leading statements. */
  private static final Set<Method> INDIFFERENT =
      named(
          "clearParameters getFetchDirection getFetchSize getMaxFieldSize getMaxRows"
              + " getQueryTimeout getResultSetConcurrency getResultSetHoldability"
              + " getResultSetType isCloseOnCompletion isPoolable isWrapperFor setPoolable"
              + " setQueryTimeout");

  private final StatementCarrier connection;
  private final LeadingStatements leading;
  private final String sql;
  private final StatementCarrier.Preparation preparation;
  private final List<Setting> settings = new ArrayList<>();
  private volatile PreparedStatement statement;
  private volatile Optional<PreparedStatement> travelled = Optional.empty();
  private volatile boolean plain;

  private static Set<Method> named(String names) {
    return methods(PreparedStatement.class, names);
  }

  /** A setter's call. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Setting(Method setter, @Nullable Object[] arguments) {
    boolean isParameter() {
      return arguments.length > 1;
    }

    void on(PreparedStatement statement) throws Throwable {
      Object unused = Driver.invoke(setter, statement, arguments);
    }
  }

  CarriedStatement(
      StatementCarrier connection,
      LeadingStatements leading,
      String sql,
      StatementCarrier.Preparation preparation)
      throws SQLException {
    super(PreparedStatement.class);
    this.connection = connection;
    this.leading = leading;
    this.sql = sql;
    this.preparation = preparation;
    this.statement = preparation.of(leading.inFrontOf(sql));
  }

  @Replaces
  Connection getConnection() {
    return connection.shown();
  }

  @Replaces
  void cancel() throws SQLException {
    statement.cancel();
  }

  @Replaces
  boolean isClosed() throws SQLException {
    return statement.isClosed();
  }

  @Replaces
  void close() throws SQLException {
    closeTravelled();
    statement.close();
  }

  @Override
  protected @Nullable Object other(Method method, @Nullable Object @Nullable [] given)
      throws Throwable {
    connection.checkThread();
    connection.checkAccepted();
    return plain ? asWritten(method, given) : carried(method, given);
  }

  @Override
  public String toString() {
    return sql;
  }

  private @Nullable Object carried(Method method, @Nullable Object @Nullable [] given)
      throws Throwable {
    if (EXECUTIONS.contains(method) && given == null) {
      Optional<Boolean> rows = connection.send(leading, statement);
      return rows.isPresent()
          ? result(method.getName(), rows.get())
          : withoutLeading(method, given);
    }
    if (SETTERS.contains(method) && given != null && isValue(given[1])) {
      return set(method, given);
    }
    boolean unlimited =
        ROW_LIMITS.contains(method)
            && given != null
            && given[0] instanceof Integer rows
            && rows == 0;
    if (!unlimited && !INDIFFERENT.contains(method) && !OF_RESULTS.contains(method)) {
      return withoutLeading(method, given);
    }
    if (method.getName().equals("clearParameters")) {
      settings.removeIf(Setting::isParameter);
    }
    if (method.getName().equals("setQueryTimeout") && given != null) {
      settings.add(new Setting(method, given));
    }
    return passOn(method, given);
  }

  private @Nullable Object passOn(Method method, @Nullable Object @Nullable [] given)
      throws Throwable {
    return Driver.invoke(method, statement, given);
  }

  private @Nullable Object asWritten(Method method, @Nullable Object @Nullable [] given)
      throws Throwable {
    if (OF_RESULTS.contains(method)) {
      return Driver.invoke(method, travelled.orElse(statement), given);
    }
    if (EXECUTIONS.contains(method) || BATCHES.contains(method)) {
      closeTravelled();
    }
    return passOn(method, given);
  }

  private void closeTravelled() throws SQLException {
    Optional<PreparedStatement> earlier = travelled;
    travelled = Optional.empty();
    if (earlier.isPresent() && earlier.get() != statement) {
      earlier.get().close();
    }
  }

  /** Executes a method on the statement as the handler wrote it, without leading statements. */
  private @Nullable Object withoutLeading(Method method, @Nullable Object @Nullable [] given)
      throws Throwable {
    connection.sendBeforeUse();
    PreparedStatement asWritten = preparation.of(sql);
    if (travelled.isEmpty()) {
      statement.close();
    }
    statement = asWritten;
    plain = true;
    for (Setting setting : settings) {
      setting.on(asWritten);
    }
    settings.clear();
    return asWritten(method, given);
  }

  /**
   * Returns whether a parameter can be set a second time with the same effect. A stream can be read
   * only once, and a large object is written when it is set.
   */
  private static boolean isValue(@Nullable Object value) {
    return value == null
        || value instanceof String
        || value instanceof Number
        || value instanceof Boolean
        || value instanceof Character
        || value instanceof UUID
        || value instanceof Temporal
        || value instanceof Date
        || value instanceof PGobject
        || value instanceof Map
        || value instanceof java.sql.Array
        || value.getClass().isArray();
  }

  private @Nullable Object set(Method method, Object[] given) throws Throwable {
    int index = (Integer) given[0];
    if (index < 1) {
      throw new PSQLException(
          "The column index is out of range: " + index + ".", PSQLState.INVALID_PARAMETER_VALUE);
    }
    Object[] shifted = given.clone();
    shifted[0] = index + leading.parameters();
    Object unused = passOn(method, shifted);
    settings.add(new Setting(method, copy(given)));
    return null;
  }

  private static @Nullable Object[] copy(Object[] values) {
    Object[] copies = values.clone();
    for (int i = 0; i < copies.length; i++) {
      copies[i] = copy(copies[i]);
    }
    return copies;
  }

  @SuppressWarnings("JavaUtilDate") // JDBC's own exceptions are checked, too
  private static @Nullable Object copy(@Nullable Object value) {
    if (value instanceof Object[] values) {
      return copy(values);
    }
    if (value != null && value.getClass().isArray()) {
      int length = Array.getLength(value);
      Object copy = Array.newInstance(value.getClass().getComponentType(), length);
      System.arraycopy(value, 0, copy, 0, length);
      return copy;
    }
    if (value instanceof Date date) {
      return date.clone();
    }
    if (value instanceof Calendar calendar) {
      return calendar.clone();
    }
    if (value instanceof Map<?, ?> map) {
      return new HashMap<>(map);
    }
    if (value instanceof PGobject object) {
      try {
        return object.clone();
      } catch (CloneNotSupportedException impossible) {
        throw new IllegalStateException(impossible);
      }
    }
    return value;
  }

  private Object result(String kind, boolean rows) throws SQLException {
    travelled = Optional.of(statement);
    return switch (kind) {
      case "executeQuery" -> {
        if (!rows) {
          throw new PSQLException("No results were returned by the query.", PSQLState.NO_DATA);
        }
        yield statement.getResultSet();
      }
      case "executeUpdate" -> {
        checkNone(rows);
        yield Math.max(0, statement.getUpdateCount());
      }
      case "executeLargeUpdate" -> {
        checkNone(rows);
        yield Math.max(0, statement.getLargeUpdateCount());
      }
      default -> rows;
    };
  }

  private static void checkNone(boolean rows) throws SQLException {
    if (rows) {
      throw new PSQLException(
          "A result was returned when none was expected.", PSQLState.TOO_MANY_RESULTS);
    }
  }
}
