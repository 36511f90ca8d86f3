package io.github.grpcidempotency.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A connection that a handler may use for everything but ending its transaction, be it by a method
 * or by a statement's text.
 *
 * <p>What a prepared statement or the driver itself hands out is not guarded. Whether the
 * transaction is still there is looked at once the handler has answered.
 */
final class GuardedConnection {
  private static final Set<String> ENDING =
      Set.of("commit", "close", "abort", "setAutoCommit", "beginRequest", "endRequest");

  private final Connection connection;
  private final Connection forHandler;
  private volatile @Nullable HandlerThread only;
  private volatile @Nullable Thread user;
  private volatile boolean shared;
  private volatile boolean ended;
  private volatile boolean preempted;

  GuardedConnection(Connection connection) {
    this.connection = connection;
    this.forHandler =
        (Connection)
            Proxy.newProxyInstance(
                GuardedConnection.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) ->
                    method.getName().equals("equals")
                        ? proxy == arguments[0]
                        : call(method, arguments));
  }

  /** Returns what the handler gets; the same object each time. */
  Connection forHandler() {
    return forHandler;
  }

  /** Refuses all other threads. */
  void limitTo(HandlerThread thread) {
    only = thread;
  }

  /** Returns whether a thread other than the current one has used the connection. */
  boolean isUsedElsewhere() {
    Thread known = user;
    return shared || (known != null && known != Thread.currentThread());
  }

  void end() {
    ended = true;
  }

  void preempt() {
    preempted = true;
    ended = true;
  }

  private @Nullable Object call(Method method, Object @Nullable [] arguments) throws Throwable {
    if (method.getDeclaringClass() != Object.class && isRefused(method)) {
      return true;
    }
    boolean rollback = method.getName().equals("rollback") && arguments == null;
    if (rollback || ENDING.contains(method.getName())) {
      throw new IllegalStateException(
          "the interceptor ends this transaction, not the handler: "
              + method.getName()
              + " must not be called");
    }
    checkText(method, arguments);
    Object result = passOn(connection, method, arguments);
    return result != null && method.getName().equals("createStatement")
        ? guarded((Statement) result)
        : result;
  }

  /**
   * Checks that the handler may use the connection. The use is noted first, so that whoever ends the
   * use and then looks for users misses none.
   *
   * @return whether the handler is to be told that the connection is closed
   */
  private boolean isRefused(Method method) throws SQLException {
    boolean asksWhetherClosed = method.getName().equals("isClosed");
    if (!asksWhetherClosed) {
      HandlerThread allowed = only;
      if (allowed != null) {
        allowed.check();
      }
      note(Thread.currentThread());
    }
    if (!ended || asksWhetherClosed) {
      return ended;
    }
    if (preempted) {
      throw new ClaimPreemptedException();
    }
    throw new IllegalStateException(
        "the handler has answered or returned, and can use its transaction no longer");
  }

  private void note(Thread current) {
    if (user != current) {
      noteOther(current);
    }
  }

  private synchronized void noteOther(Thread current) {
    if (user == null) {
      user = current;
    } else if (user != current) {
      shared = true;
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
      throw new IllegalStateException(
          "the interceptor ends this transaction, not the handler: "
              + end.get().toUpperCase(Locale.ROOT)
              + " was not sent");
    }
  }

  private static boolean takesText(String method) {
    return method.startsWith("prepare")
        || method.startsWith("execute")
        || method.equals("addBatch");
  }

  /** A statement that gets its text when it is executed. */
  private Statement guarded(Statement statement) {
    return (Statement)
        Proxy.newProxyInstance(
            GuardedConnection.class.getClassLoader(),
            new Class<?>[] {Statement.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "equals" -> arguments != null && proxy == arguments[0];
                  case "getConnection" -> forHandler;
                  default -> {
                    checkText(method, arguments);
                    yield passOn(statement, method, arguments);
                  }
                });
  }

  private static @Nullable Object passOn(
      Object target, Method method, Object @Nullable [] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException thrown) {
      throw thrown.getCause() == null ? thrown : thrown.getCause();
    }
  }
}
