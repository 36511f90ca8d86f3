package io.github.grpcidempotency.postgres.internal.transaction;

import io.github.grpcidempotency.postgres.ClaimPreemptedException;
import io.github.grpcidempotency.postgres.internal.carry.LeadingStatements;
import io.github.grpcidempotency.postgres.internal.driver.Driver;
import io.github.grpcidempotency.postgres.internal.driver.JdbcProxy;
import io.github.grpcidempotency.postgres.internal.driver.TransactionEnd;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/**
 * A connection that a handler can use for everything except ending its transaction, whether by a
 * JDBC method or by a statement's text. Once the handler's use has ended, no new statement reaches
 * the driver, and the caller of {@link #end} can wait for the running statements.
 *
 * <p>Objects that a statement or the driver itself returns are not guarded. For these, the store
 * checks after the handler whether the transaction is still open.
 */
final class GuardedConnection extends JdbcProxy<Connection> {
  private static final Set<Method> ENDING =
      methods(Connection.class, "commit abort setAutoCommit beginRequest endRequest");

  private volatile Connection connection;

  /** Each thread that calls the driver holds the read lock. */
  private final ReentrantReadWriteLock use = new ReentrantReadWriteLock();

  private volatile @Nullable LeadingStatements only;
  private volatile boolean ended;
  private volatile @Nullable ClaimPreemptedException preempted;

  GuardedConnection(Connection connection) {
    super(Connection.class);
    this.connection = connection;
  }

  /** Sends the handler's statements through another view of the connection. */
  void use(Connection through) {
    connection = through;
  }

  /** Refuses all other threads than that of the leading statements. */
  void limitToThreadOf(LeadingStatements statements) {
    only = statements;
  }

  void end() {
    ended = true;
  }

  void preempt(ClaimPreemptedException refusal) {
    preempted = refusal;
    ended = true;
  }

  /**
   * Waits until no other thread is calling the driver. Once the handler's use has ended, no other
   * thread starts a call to the driver. Returns false if one is still calling it.
   */
  boolean awaitUnused(Duration maxWait) {
    if (use.getReadLockCount() == use.getReadHoldCount()) {
      return true;
    }
    try {
      boolean unused = use.writeLock().tryLock(maxWait.toNanos(), TimeUnit.NANOSECONDS);
      if (unused) {
        use.writeLock().unlock();
      }
      return unused;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @Override
  protected @Nullable Object other(Method method, @Nullable Object @Nullable [] arguments)
      throws Throwable {
    use.readLock().lock();
    try {
      checkUse();
      if (ENDING.contains(method)) {
        throw endedByInterceptor(method.getName() + " must not be called");
      }
      checkText(method, arguments);
      Object result = Driver.invoke(method, connection, arguments);
      return result instanceof Statement statement ? guarded(statement) : result;
    } finally {
      use.readLock().unlock();
    }
  }

  @Replaces
  void rollback() throws SQLException {
    checkUse();
    throw endedByInterceptor("rollback must not be called");
  }

  /** The interceptor closes the connection; handlers often use try-with-resources. */
  @Replaces
  void close() {}

  @Replaces
  boolean isClosed() throws SQLException {
    return ended || connection.isClosed();
  }

  private static IllegalStateException endedByInterceptor(String problem) {
    return new IllegalStateException(
        "the interceptor ends this transaction, not the handler: " + problem);
  }

  private void checkUse() throws SQLException {
    LeadingStatements allowed = only;
    if (allowed != null) {
      allowed.checkThread();
    }
    ClaimPreemptedException refusal = preempted;
    if (refusal != null) {
      throw refusal;
    }
    if (ended) {
      throw new IllegalStateException(
          "the transaction of this call has ended, because its handler has answered or"
              + " returned: use the transaction before the handler answers");
    }
  }

  private static void checkText(Method method, Object @Nullable [] arguments) {
    Optional<String> end =
        arguments != null
                && arguments.length > 0
                && arguments[0] instanceof String sql
                && takesText(method.getName())
            ? TransactionEnd.in(sql)
            : Optional.empty();
    if (end.isPresent()) {
      throw endedByInterceptor(end.get().toUpperCase(Locale.ROOT) + " was not sent");
    }
  }

  private static boolean takesText(String method) {
    return method.startsWith("prepare")
        || method.startsWith("execute")
        || method.equals("addBatch");
  }

  private Statement guarded(Statement statement) {
    Class<?> type =
        statement instanceof CallableStatement
            ? CallableStatement.class
            : statement instanceof PreparedStatement ? PreparedStatement.class : Statement.class;
    return (Statement)
        Proxy.newProxyInstance(
            GuardedConnection.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "equals" -> arguments != null && proxy == arguments[0];
                  case "getConnection" -> proxy();
                  default ->
                      method.getName().startsWith("execute")
                          ? execute(statement, method, arguments)
                          : passOnText(statement, method, arguments);
                });
  }

  private @Nullable Object execute(
      Statement statement, Method method, Object @Nullable [] arguments) throws Throwable {
    use.readLock().lock();
    try {
      checkUse();
      return passOnText(statement, method, arguments);
    } finally {
      use.readLock().unlock();
    }
  }

  /** Checks methods that take the statement's text when it is executed. */
  private static @Nullable Object passOnText(
      Statement statement, Method method, Object @Nullable [] arguments) throws Throwable {
    checkText(method, arguments);
    return Driver.invoke(method, statement, arguments);
  }

  @Override
  public String toString() {
    return connection.toString();
  }
}
