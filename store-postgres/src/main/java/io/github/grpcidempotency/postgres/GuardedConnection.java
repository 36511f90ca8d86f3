package io.github.grpcidempotency.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
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

  void end() {
    ended = true;
  }

  void preempt() {
    preempted = true;
    ended = true;
  }

  /** The claim is won after all, without what was written here. */
  void replaced() {
    preempted = false;
  }

  private @Nullable Object call(Method method, Object @Nullable [] arguments) throws Throwable {
    if (ended && method.getDeclaringClass() != Object.class) {
      if (method.getName().equals("isClosed")) {
        return true;
      }
      if (preempted) {
        throw new ClaimPreemptedException();
      }
      throw new IllegalStateException("the call has been answered, and its transaction has ended");
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
