package io.github.grpcidempotency.postgres.internal.driver;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Clob;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.Parser;
import org.postgresql.core.TransactionState;
import org.postgresql.fastpath.Fastpath;
import org.postgresql.jdbc.PgBlob;
import org.postgresql.jdbc.PgClob;
import org.postgresql.largeobject.LargeObjectManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver of a connection. Only this class uses classes of the driver that are not part of its
 * public interface, so a new version of the driver can affect only this class. No method waits for
 * the database.
 */
public final class Driver {
  private static final Logger logger = LoggerFactory.getLogger(Driver.class);

  /** The state of a connection's transaction as the driver knows it. */
  public enum Transaction {
    NONE,
    OPEN,
    /** A statement of the transaction has failed, so the transaction can only be rolled back. */
    FAILED
  }

  public interface Action {
    void run() throws SQLException;
  }

  private Driver() {}

  /** Returns the state of the transaction; empty if the connection is closed or hides it. */
  public static Optional<Transaction> transactionOf(Connection connection) {
    try {
      return connection.isWrapperFor(BaseConnection.class)
          ? Optional.of(stateOf(connection))
          : Optional.empty();
    } catch (SQLException hidden) {
      logger.debug(
          "the connection does not report the state of its transaction; the database"
              + " reports it with the next statement",
          hidden);
      return Optional.empty();
    }
  }

  private static Transaction stateOf(Connection connection) throws SQLException {
    TransactionState state = connection.unwrap(BaseConnection.class).getTransactionState();
    return switch (state) {
      case IDLE -> Transaction.NONE;
      case OPEN -> Transaction.OPEN;
      case FAILED -> Transaction.FAILED;
    };
  }

  /** Returns the driver's own connection, or the connection itself if it hides the driver's. */
  public static Connection behind(Connection connection) {
    try {
      return connection.isWrapperFor(PGConnection.class)
              && connection.unwrap(PGConnection.class) instanceof Connection driver
          ? driver
          : connection;
    } catch (SQLException hidden) {
      logger.debug("the connection does not unwrap to the driver's connection", hidden);
      return connection;
    }
  }

  /**
   * Closes a driver's connection immediately, even while another thread uses it. The server cancels
   * the running statement, which would otherwise keep its locks until its end.
   */
  public static void abort(Connection connection) {
    quietly("cancel a statement", () -> connection.unwrap(PGConnection.class).cancelQuery());
    quietly("abort a connection", () -> connection.abort(Runnable::run));
  }

  /** Does something with a connection that may be broken; then its pool replaces it. */
  public static void quietly(String what, Action action) {
    try {
      action.run();
    } catch (SQLException broken) {
      logger.debug("could not {}", what, broken);
    } catch (RuntimeException | Error defect) {
      logger.warn("could not {}", what, defect);
    }
  }

  public static String queryMode(PGConnection driver) {
    return driver.getPreferQueryMode().value();
  }

  /** Returns whether an object of the driver uses the connection and is no interface. */
  public static boolean isTool(Object object) {
    return object instanceof CopyManager
        || object instanceof LargeObjectManager
        || object instanceof Fastpath;
  }

  /** Creates such an object anew, so that it uses a view of the connection. */
  public static Object toolOn(Connection view, Object tool) throws SQLException {
    BaseConnection driver = view.unwrap(BaseConnection.class);
    if (tool instanceof CopyManager) {
      return new CopyManager(driver);
    }
    return tool instanceof Fastpath ? new Fastpath(driver) : new LargeObjectManager(driver);
  }

  /** Creates the large object of a column anew, so that it uses a view of the connection. */
  public static Object largeObjectOn(Connection view, Object object, ResultSet row, Object column)
      throws SQLException {
    BaseConnection driver = view.unwrap(BaseConnection.class);
    long id = column instanceof Integer index ? row.getLong(index) : row.getLong((String) column);
    return object instanceof Clob ? new PgClob(driver, id) : new PgBlob(driver, id);
  }

  /** Calls a method of the driver, and throws what the method throws. */
  public static @Nullable Object invoke(
      Method method, Object target, @Nullable Object @Nullable [] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException thrown) {
      throw thrown.getCause() == null ? thrown : thrown.getCause();
    }
  }

  /** Splits a text into statements, as the driver does when it sends the text. */
  static List<String> statementsIn(String sql) throws SQLException {
    return Parser.parseJdbcSql(sql, true, false, true, false, false).stream()
        .map(statement -> statement.nativeSql)
        .toList();
  }

  static boolean isSpace(char letter) {
    return Parser.isSpace(letter);
  }

  static boolean isPartOfName(char letter) {
    return Parser.isIdentifierContChar(letter);
  }

  /** Returns the last place of the comment that begins at a place; the same place without one. */
  static int endOfComment(char[] text, int at) {
    return switch (text[at]) {
      case '-' -> Parser.parseLineComment(text, at);
      case '/' -> Parser.parseBlockComment(text, at);
      default -> at;
    };
  }
}
