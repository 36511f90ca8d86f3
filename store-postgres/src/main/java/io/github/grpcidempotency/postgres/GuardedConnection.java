package io.github.grpcidempotency.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A connection that a handler may use for everything but ending its transaction. */
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
    try {
      return method.invoke(connection, arguments);
    } catch (InvocationTargetException thrown) {
      throw thrown.getCause() == null ? thrown : thrown.getCause();
    }
  }
}
