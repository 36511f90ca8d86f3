package io.github.grpcidempotency.testing;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;

/**
 * A pool for tests that checks every connection when it is returned, before the pool cleans it up,
 * and when it is taken from the pool. No transaction may be open on it. A pool that {@linkplain
 * #checkUsers checks users} also queries whether {@code app.current_user_id} or {@code
 * app.current_user_ids} is still set, because the next user of such a connection would see that
 * user's rows.
 *
 * <p>A violation does not affect the code under test; {@link #check} reports it. Thread-safe.
 */
public final class CheckedPool extends HikariDataSource {
  private static final String USER =
      "SELECT concat(current_setting('app.current_user_id', true),"
          + " current_setting('app.current_user_ids', true))";

  private final Queue<AssertionError> violations = new ConcurrentLinkedQueue<>();
  private volatile boolean checksUsers;

  /** Opens a pool. */
  public CheckedPool(HikariConfig config) {
    super(config);
  }

  /** Checks users from now on, which costs a round trip each time a connection is returned. */
  public CheckedPool checkUsers() {
    checksUsers = true;
    return this;
  }

  /**
   * Reports the violations since the last check.
   *
   * @throws AssertionError for the first violation, with the stack trace of the thread that
   *     returned the connection; the other violations are suppressed exceptions
   */
  public void check() {
    List<AssertionError> found = new ArrayList<>();
    for (AssertionError next = violations.poll(); next != null; next = violations.poll()) {
      found.add(next);
    }
    if (!found.isEmpty()) {
      AssertionError first = found.get(0);
      found.subList(1, found.size()).forEach(first::addSuppressed);
      throw first;
    }
  }

  @Override
  public Connection getConnection() throws SQLException {
    Connection connection = super.getConnection();
    checkState(connection, "taken from the pool");
    return (Connection)
        Proxy.newProxyInstance(
            CheckedPool.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (self, method, arguments) -> {
              switch (method.getName()) {
                case "equals" -> {
                  return self == arguments[0];
                }
                case "hashCode" -> {
                  return System.identityHashCode(self);
                }
                case "close" -> checkReturned(connection);
                default -> {}
              }
              try {
                return method.invoke(connection, arguments);
              } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
              }
            });
  }

  private void checkReturned(Connection connection) {
    try {
      if (!connection.isClosed()
          && !connection.unwrap(BaseConnection.class).isClosed()
          && checkState(connection, "returned to the pool")
          && checksUsers) {
        checkUser(connection);
      }
    } catch (SQLException broken) {
      // The pool itself detects the broken connection.
    }
  }

  private boolean checkState(Connection connection, String event) throws SQLException {
    TransactionState state = connection.unwrap(BaseConnection.class).getTransactionState();
    boolean idle = state == TransactionState.IDLE;
    if (!idle) {
      violations.add(
          new AssertionError(
              "a connection was %s although its transaction is %s".formatted(event, state)));
    }
    return idle;
  }

  private void checkUser(Connection connection) throws SQLException {
    if (!connection.getAutoCommit()) {
      connection.setAutoCommit(true);
    }
    try (Statement statement = connection.createStatement();
        ResultSet user = statement.executeQuery(USER)) {
      if (user.next() && user.getString(1) != null && !user.getString(1).isEmpty()) {
        violations.add(
            new AssertionError("a connection was returned to the pool although it has a user set"));
      }
    }
  }
}
