package io.github.grpcidempotency.postgres.internal.carry;

import io.github.grpcidempotency.postgres.ClaimPreemptedException;
import io.github.grpcidempotency.postgres.internal.driver.Driver;
import io.github.grpcidempotency.postgres.internal.driver.JdbcProxy;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.Set;
import org.jdbi.v3.core.transaction.TransactionException;
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
public final class StatementCarrier extends JdbcProxy<Connection> {
  /** These methods neither reach the database nor expose the driver. */
  private static final Set<Method> WITHOUT_DATABASE =
      methods(
          Connection.class,
          "beginRequest clearWarnings createArrayOf endRequest getCatalog getHoldability"
              + " getNetworkTimeout getTypeMap getWarnings isClosed isReadOnly nativeSQL"
              + " setNetworkTimeout");

  /** A host also calls these methods on a connection whose leading statements have failed. */
  private static final Set<Method> RESETS =
      methods(Connection.class, "setReadOnly setTransactionIsolation");

  private static final Set<Method> RETURNS = methods(Connection.class, "abort close");

  private final Connection connection;
  private Connection shown = proxy();
  private volatile @Nullable LeadingStatements user;
  private volatile @Nullable LeadingStatements leading;
  private volatile @Nullable TrailingStatements trailing;
  private volatile @Nullable ClaimPreemptedException refusal;

  /** Statements that are sent in front of a commit, in one flush with it. */
  interface TrailingStatements {
    /**
     * Runs the statements on a connection with an open transaction, and commits with the last one.
     * The statements raise an error if the transaction must not be committed.
     */
    void runAndCommit(Connection connection) throws SQLException;
  }

  /** Prepares a text with the options that the connection's user has passed. */
  interface Preparation {
    PreparedStatement of(@Nullable String sql) throws SQLException;
  }

  private StatementCarrier(Connection connection) {
    super(Connection.class);
    this.connection = connection;
  }

  /** Returns a carrier, whose {@link #proxy} is for the user of a connection. */
  public static StatementCarrier on(Connection connection) {
    return new StatementCarrier(connection);
  }

  /**
   * Returns the carrier of a host's connection; empty if the connection carries nothing.
   *
   * @throws TransactionException if the connection is closed
   */
  public static Optional<StatementCarrier> of(Connection connection) {
    try {
      return connection.isWrapperFor(StatementCarrier.class)
          ? Optional.of(connection.unwrap(StatementCarrier.class))
          : Optional.empty();
    } catch (SQLException failure) {
      throw new TransactionException(
          "could not use the connection of the host's transaction", failure);
    }
  }

  /** Sets another connection that {@code Statement.getConnection} returns to the user. */
  public void showAs(Connection shown) {
    this.shown = shown;
  }

  /**
   * Sends statements in front of the next statement of the connection's user. They stay pending if
   * a transaction without statements is committed or rolled back.
   */
  public void carryFirst(LeadingStatements statements) {
    user = statements;
    leading = statements;
    refusal = null;
  }

  /**
   * Sends statements together with the commit, unless the transaction is rolled back. Returns false
   * if others are already registered for the commit; the caller must then run its statements now.
   */
  boolean carryLast(TrailingStatements statements) {
    if (trailing != null) {
      return false;
    }
    trailing = statements;
    return true;
  }

  /** Drops all statements that were not sent yet. */
  public void forget() {
    user = null;
    leading = null;
    trailing = null;
  }

  @Override
  protected @Nullable Object other(Method method, @Nullable Object @Nullable [] arguments)
      throws Throwable {
    if (RETURNS.contains(method)) {
      forget();
    } else if (!WITHOUT_DATABASE.contains(method)
        && !(RESETS.contains(method) && refusal != null)) {
      sendBeforeUse();
    }
    return Driver.invoke(method, connection, arguments);
  }

  @Replaces
  boolean isWrapperFor(Class<?> type) throws SQLException {
    return type == StatementCarrier.class || connection.isWrapperFor(type);
  }

  @Replaces
  Object unwrap(Class<?> type) throws SQLException {
    if (type == StatementCarrier.class) {
      return this;
    }
    if (type == Connection.class) {
      return proxy();
    }
    if (type == PGConnection.class && leading != null) {
      return Driver.unwrap(connection, this::sendBeforeUse);
    }
    sendBeforeUse();
    return connection.unwrap(type);
  }

  @Replaces
  void commit() throws SQLException {
    checkAccepted();
    TrailingStatements last = trailing;
    trailing = null;
    if (last != null) {
      last.runAndCommit(connection);
    }
    connection.commit();
  }

  @Replaces
  void rollback() throws SQLException {
    trailing = null;
    connection.rollback();
  }

  @Replaces
  void setAutoCommit(boolean autoCommit) throws SQLException {
    if (autoCommit) { // this ends the transaction
      if (refusal != null) {
        forget();
        refusal = null;
      } else if (!connection.getAutoCommit()) {
        commit();
      }
    }
    connection.setAutoCommit(autoCommit);
  }

  @Replaces
  boolean getAutoCommit() throws SQLException {
    return leading == null && connection.getAutoCommit();
  }

  @Replaces
  DatabaseMetaData getMetaData() throws SQLException {
    if (leading != null) {
      return new MetaData(connection.getMetaData()).proxy();
    }
    sendBeforeUse();
    return connection.getMetaData();
  }

  @Replaces
  PreparedStatement prepareStatement(String sql) throws SQLException {
    return prepare(sql, true, connection::prepareStatement);
  }

  @Replaces
  PreparedStatement prepareStatement(String sql, int keys) throws SQLException {
    return prepare(
        sql,
        keys == PreparedStatement.NO_GENERATED_KEYS,
        text -> connection.prepareStatement(text, keys));
  }

  @Replaces
  PreparedStatement prepareStatement(String sql, int type, int concurrency) throws SQLException {
    return prepare(
        sql,
        isReadForward(type, concurrency),
        text -> connection.prepareStatement(text, type, concurrency));
  }

  @Replaces
  PreparedStatement prepareStatement(String sql, int type, int concurrency, int holdability)
      throws SQLException {
    return prepare(
        sql,
        isReadForward(type, concurrency),
        text -> connection.prepareStatement(text, type, concurrency, holdability));
  }

  private static boolean isReadForward(int type, int concurrency) {
    return type == ResultSet.TYPE_FORWARD_ONLY && concurrency == ResultSet.CONCUR_READ_ONLY;
  }

  /** Prepares a statement, which is plain if no option such as scrolling affects its results. */
  private PreparedStatement prepare(@Nullable String sql, boolean plain, Preparation preparation)
      throws SQLException {
    checkThread();
    LeadingStatements first = leading;
    if (first != null
        && plain
        && sql != null
        && !sql.isBlank()
        && Driver.joinsStatements(connection)) {
      return new CarriedStatement(this, first, sql, preparation).proxy();
    }
    sendBeforeUse();
    return preparation.of(sql);
  }

  /** Sends the leading statements by themselves, because the current thread uses the connection. */
  void sendBeforeUse() throws SQLException {
    checkThread();
    sendAlone();
  }

  void checkThread() throws SQLException {
    LeadingStatements only = user;
    if (only != null) {
      only.checkThread();
    }
  }

  Connection shown() {
    return shown;
  }

  /**
   * Sends the leading statements by themselves, if they were not sent yet.
   *
   * @throws ClaimPreemptedException if no statement may follow
   */
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

  /** Checks that the leading statements did not fail. */
  void checkAccepted() {
    ClaimPreemptedException known = refusal;
    if (known != null) {
      throw known;
    }
  }

  @Override
  public String toString() {
    return connection.toString();
  }

  /**
   * The metadata of the connection while the leading statements are not sent yet. A question that
   * the driver answers without the database is passed on. Before any other question, the leading
   * statements are sent. Spring reads the driver's name before it sets a parameter to null.
   */
  final class MetaData extends JdbcProxy<DatabaseMetaData> {
    private static final Set<Method> KNOWN =
        methods(
            DatabaseMetaData.class,
            "getDatabaseMajorVersion getDatabaseMinorVersion getDatabaseProductName"
                + " getDatabaseProductVersion getDriverMajorVersion getDriverMinorVersion"
                + " getDriverName getDriverVersion getURL supportsBatchUpdates"
                + " supportsGetGeneratedKeys supportsSavepoints");

    private final DatabaseMetaData metaData;

    MetaData(DatabaseMetaData metaData) {
      super(DatabaseMetaData.class);
      this.metaData = metaData;
    }

    @Replaces
    Connection getConnection() {
      return shown;
    }

    @Override
    protected @Nullable Object other(Method method, @Nullable Object @Nullable [] arguments)
        throws Throwable {
      if (!KNOWN.contains(method)) {
        sendBeforeUse();
      }
      return Driver.invoke(method, metaData, arguments);
    }

    @Override
    public String toString() {
      return metaData.toString();
    }
  }
}
