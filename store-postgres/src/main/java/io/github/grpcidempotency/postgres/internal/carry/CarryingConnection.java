package io.github.grpcidempotency.postgres.internal.carry;

import io.github.grpcidempotency.postgres.ClaimPreemptedException;
import io.github.grpcidempotency.postgres.internal.driver.Driver;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * A connection that sends statements of the library in front of its user's first statement, and
 * others in front of its user's commit:
 *
 * <ol>
 *   <li>A prepared statement without special options is sent in one flush with the leading
 *       statements; see {@link CarriedStatement}.
 *   <li>A call that neither reaches the database nor exposes the driver is passed on.
 *   <li>Before any other call, the leading statements are sent by themselves.
 *   <li>Once the leading statements are sent, every call is passed on. If the leading statements
 *       fail, every later call is refused, except the calls by which a host ends a transaction.
 * </ol>
 *
 * <p>A connection that has carried statements can be used only by the thread of these statements,
 * until it is returned to the pool. Any thread may cancel a statement.
 */
final class CarryingConnection implements StatementCarrier, InvocationHandler {
  private final Connection connection;
  private final Connection proxy;
  private Connection shown;
  private volatile @Nullable LeadingStatements user;
  private volatile @Nullable LeadingStatements leading;
  private volatile @Nullable TrailingStatements trailing;
  private volatile @Nullable ClaimPreemptedException refusal;

  CarryingConnection(Connection connection) {
    this.connection = connection;
    this.proxy =
        (Connection)
            Proxy.newProxyInstance(
                CarryingConnection.class.getClassLoader(), new Class<?>[] {Connection.class}, this);
    this.shown = proxy;
  }

  @Override
  public Connection connection() {
    return proxy;
  }

  @Override
  public void showAs(Connection shown) {
    this.shown = shown;
  }

  @Override
  public void carryFirst(LeadingStatements statements) {
    user = statements;
    leading = statements;
    refusal = null;
  }

  @Override
  public boolean carryLast(TrailingStatements statements) {
    if (trailing != null) {
      return false;
    }
    trailing = statements;
    return true;
  }

  @Override
  public void forget() {
    user = null;
    leading = null;
    trailing = null;
  }

  @Override
  public @Nullable Object invoke(Object self, Method method, Object @Nullable [] arguments)
      throws Throwable {
    return switch (method.getName()) {
      case "equals" -> self == argument(arguments);
      case "hashCode" -> System.identityHashCode(self);
      case "isWrapperFor" ->
          isOwn(argument(arguments)) || Boolean.TRUE.equals(passOn(method, arguments));
      case "unwrap" -> isOwn(argument(arguments)) ? this : unwrap(method, arguments);
      case "commit" -> {
        commit();
        yield null;
      }
      case "rollback" -> rollback(method, arguments);
      case "setAutoCommit" -> setAutoCommit(method, arguments);
      case "close", "abort" -> {
        forget();
        yield passOn(method, arguments);
      }
      case "prepareStatement" -> prepare(method, arguments);
      case "getMetaData" ->
          leading == null
              ? sendAlone(method, arguments)
              : CarriedMetaData.of(this, connection.getMetaData());
      case "getAutoCommit" -> leading == null ? passOn(method, arguments) : (Object) false;
      case "beginRequest",
          "clearWarnings",
          "createArrayOf",
          "endRequest",
          "getCatalog",
          "getHoldability",
          "getNetworkTimeout",
          "getTypeMap",
          "getWarnings",
          "isClosed",
          "isReadOnly",
          "nativeSQL",
          "setNetworkTimeout",
          "toString" ->
          passOn(method, arguments);
      case "setReadOnly", "setTransactionIsolation" ->
          refusal != null ? passOn(method, arguments) : sendAlone(method, arguments);
      default -> sendAlone(method, arguments);
    };
  }

  private static Object argument(Object @Nullable [] arguments) {
    if (arguments == null) {
      throw new IllegalArgumentException("an argument is missing");
    }
    return arguments[0];
  }

  private static boolean isOwn(Object type) {
    return type == StatementCarrier.class;
  }

  private @Nullable Object unwrap(Method method, Object @Nullable [] arguments) throws Throwable {
    Object type = argument(arguments);
    if (type == Connection.class) {
      return proxy;
    }
    return type == PGConnection.class && leading != null
        ? Driver.unwrap(connection, this::sendBeforeUse)
        : sendAlone(method, arguments);
  }

  private @Nullable Object passOn(Method method, Object @Nullable [] arguments) throws Throwable {
    return Driver.invoke(method, connection, arguments);
  }

  private @Nullable Object sendAlone(Method method, Object @Nullable [] arguments)
      throws Throwable {
    sendBeforeUse();
    return passOn(method, arguments);
  }

  /** Sends the leading statements by themselves, because the current thread uses the connection. */
  void sendBeforeUse() throws SQLException {
    checkThread();
    sendAlone();
  }

  /** Checks that the current thread may use the connection. */
  void checkThread() throws SQLException {
    LeadingStatements only = user;
    if (only != null) {
      only.checkThread();
    }
  }

  private void commit() throws SQLException {
    checkAccepted();
    TrailingStatements last = trailing;
    trailing = null;
    if (last != null) {
      last.runAndCommit(connection);
    }
    connection.commit();
  }

  private @Nullable Object rollback(Method method, Object @Nullable [] arguments) throws Throwable {
    if (arguments != null) { // a rollback to a savepoint
      return sendAlone(method, arguments);
    }
    trailing = null;
    return passOn(method, arguments);
  }

  private @Nullable Object setAutoCommit(Method method, Object @Nullable [] arguments)
      throws Throwable {
    if (argument(arguments) == Boolean.TRUE) { // this ends the transaction
      if (refusal != null) {
        forget();
        refusal = null;
      } else if (!connection.getAutoCommit()) {
        commit();
      }
    }
    return passOn(method, arguments);
  }

  private Object prepare(Method method, Object @Nullable [] arguments) throws Throwable {
    checkThread();
    LeadingStatements first = leading;
    if (first != null && isPlain(arguments) && Driver.joinsStatements(connection)) {
      return CarriedStatement.prepare(this, first, method, arguments);
    }
    Object statement = sendAlone(method, arguments);
    if (statement == null) {
      throw new IllegalStateException("the driver returned no prepared statement");
    }
    return statement;
  }

  /**
   * Returns whether a statement is prepared without options that affect its results, such as a
   * scrollable result set.
   */
  private static boolean isPlain(Object @Nullable [] arguments) {
    if (arguments == null || !(arguments[0] instanceof String sql) || sql.isBlank()) {
      return false;
    }
    return switch (arguments.length) {
      case 1 -> true;
      case 2 -> arguments[1] instanceof Integer keys && keys == PreparedStatement.NO_GENERATED_KEYS;
      default ->
          arguments[1] instanceof Integer type
              && type == ResultSet.TYPE_FORWARD_ONLY
              && arguments[2] instanceof Integer concurrency
              && concurrency == ResultSet.CONCUR_READ_ONLY;
    };
  }

  /** Returns the connection that its user sees. */
  Connection shown() {
    return shown;
  }

  /**
   * Prepares a statement of the connection's user, or this statement with leading statements in
   * front.
   */
  PreparedStatement prepareOwn(Method method, Object[] arguments, String sql) throws Throwable {
    Object[] changed = arguments.clone();
    changed[0] = sql;
    Object statement = passOn(method, changed);
    if (statement instanceof PreparedStatement prepared) {
      return prepared;
    }
    throw new IllegalStateException("the driver returned no prepared statement");
  }

  @Override
  public void sendAlone() throws SQLException {
    checkAccepted();
    LeadingStatements alone = leading;
    if (alone == null) {
      return;
    }
    leading = null;
    try {
      alone.runAlone(connection);
    } catch (ClaimPreemptedException preempted) {
      refusal = preempted;
      throw preempted;
    }
  }

  /**
   * Sends the leading statements and the statement behind them. Returns whether the first result of
   * that statement has rows. Returns empty, and sends nothing, if the leading statements were sent
   * before.
   */
  Optional<Boolean> send(LeadingStatements first, PreparedStatement statement) throws SQLException {
    if (leading != first) {
      return Optional.empty();
    }
    leading = null;
    try {
      first.bind(statement);
      boolean unused = statement.execute();
      return Optional.of(first.succeeded(statement));
    } catch (SQLException failure) {
      throw failed(first, failure);
    } catch (RuntimeException | Error failure) {
      SQLException unused = failed(first, new SQLException(failure));
      throw failure;
    }
  }

  private SQLException failed(LeadingStatements first, SQLException failure) {
    if (Driver.isUnsent(connection, failure)) {
      leading = first;
      return failure;
    }
    try {
      return first.failed(failure);
    } catch (ClaimPreemptedException preempted) {
      refusal = preempted;
      throw preempted;
    }
  }

  /**
   * Checks that the leading statements did not fail.
   *
   * @throws ClaimPreemptedException if they failed
   */
  void checkAccepted() {
    ClaimPreemptedException known = refusal;
    if (known != null) {
      throw known;
    }
  }
}
