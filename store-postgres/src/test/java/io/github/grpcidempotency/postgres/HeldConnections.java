package io.github.grpcidempotency.postgres;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/**
 * Pools that count the connections which the library holds for each thread. A thread for which the
 * library holds a connection, of any of these pools, and that asks for another one for the library,
 * fails: it could wait for itself. What handlers take is not counted.
 */
final class HeldConnections {
  private static final String LIBRARY = "io.github.grpcidempotency.postgres.internal.";
  private static final List<String> BETWEEN =
      List.of(HeldConnections.class.getName(), ThreadTransactions.class.getName(), "jdk.", "java.");

  private static final ThreadLocal<AtomicInteger> HELD =
      ThreadLocal.withInitial(AtomicInteger::new);
  private static final Queue<AssertionError> VIOLATIONS = new ConcurrentLinkedQueue<>();

  private HeldConnections() {}

  /** Returns a pool that counts. */
  static DataSource of(DataSource pool) {
    return proxy(
        DataSource.class,
        (method, arguments) ->
            method.getName().equals("getConnection") && isForLibrary()
                ? take(() -> (Connection) method.invoke(pool, arguments))
                : method.invoke(pool, arguments));
  }

  /** Fails if a thread has asked for a connection while the library held one for it. */
  static void check() {
    List<AssertionError> found = new ArrayList<>();
    for (AssertionError next = VIOLATIONS.poll(); next != null; next = VIOLATIONS.poll()) {
      found.add(next);
    }
    if (!found.isEmpty()) {
      throw found.get(0);
    }
  }

  private interface Call<T> {
    T run() throws ReflectiveOperationException;
  }

  private interface Behaviour {
    Object run(java.lang.reflect.Method method, Object[] arguments)
        throws ReflectiveOperationException;
  }

  private static boolean isForLibrary() {
    return StackWalker.getInstance()
        .walk(
            frames ->
                frames
                    .map(StackWalker.StackFrame::getClassName)
                    .filter(name -> BETWEEN.stream().noneMatch(name::startsWith))
                    .filter(name -> !name.contains("$Proxy"))
                    .findFirst()
                    .filter(name -> name.startsWith(LIBRARY))
                    .isPresent());
  }

  private static Connection take(Call<Connection> pool) throws ReflectiveOperationException {
    AtomicInteger held = HELD.get();
    if (held.get() > 0) {
      AssertionError violation =
          new AssertionError("the library asks for a connection while it holds another one");
      VIOLATIONS.add(violation);
      throw violation;
    }
    Connection connection = pool.run();
    held.incrementAndGet();
    AtomicBoolean returned = new AtomicBoolean();
    return proxy(
        Connection.class,
        (method, arguments) -> {
          if (method.getName().equals("close") && !returned.getAndSet(true)) {
            held.decrementAndGet();
          }
          return method.invoke(connection, arguments);
        });
  }

  private static <T> T proxy(Class<T> type, Behaviour behaviour) {
    return type.cast(
        Proxy.newProxyInstance(
            HeldConnections.class.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> {
              try {
                return switch (method.getName()) {
                  case "equals" -> self == arguments[0];
                  case "hashCode" -> System.identityHashCode(self);
                  default -> behaviour.run(method, arguments);
                };
              } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
              }
            }));
  }
}
