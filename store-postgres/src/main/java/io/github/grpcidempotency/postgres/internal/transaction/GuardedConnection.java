package io.github.grpcidempotency.postgres.internal.transaction;

import static java.util.Objects.requireNonNull;

import com.google.common.reflect.TypeToken;
import io.github.grpcidempotency.postgres.internal.driver.Driver;
import io.github.grpcidempotency.postgres.internal.driver.TransactionEnd;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.sql.Blob;
import java.sql.Clob;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.postgresql.copy.CopyOperation;
import org.postgresql.util.PSQLState;

/**
 * A connection that a handler can use for everything except ending its transaction, whether by a
 * JDBC method or by a statement's text. Once the handler's use has ended, no call reaches the
 * driver, and the caller of {@link #end} can wait for the running calls.
 *
 * <p>Every method of the connection passes through {@link Guarded#invoke}, and so does every method
 * of the objects that it returns: statements, results, metadata, large objects, and the driver
 * itself. The methods are not listed, so a method that JDBC adds later is guarded, too.
 */
final class GuardedConnection {
  private static final Set<String> ENDING =
      Set.of("commit", "abort", "setAutoCommit", "beginRequest", "endRequest");

  /** These methods may be called on any thread, and do nothing after the end of the use. */
  private static final Set<String> RELEASING = Set.of("cancel", "close", "free", "isClosed");

  /** The interfaces of JDBC and of the driver that a class has. */
  private static final ClassValue<List<Class<?>>> INTERFACES =
      new ClassValue<>() {
        @Override
        protected List<Class<?>> computeValue(Class<?> type) {
          return TypeToken.of(type).getTypes().interfaces().rawTypes().stream()
              .filter(found -> isSql(found) || found.getName().startsWith("org.postgresql."))
              .filter(found -> Modifier.isPublic(found.getModifiers()))
              .<Class<?>>map(found -> found)
              .toList();
        }
      };

  /** The maximum time for which the end of a transaction waits for another thread's call. */
  private static final Duration MAX_WAIT = Duration.ofSeconds(5);

  private final Connection proxy;

  /** The driver's objects that are no interfaces, made anew so that they use this guard. */
  private final Map<Class<?>, Object> tools = new ConcurrentHashMap<>();

  /** The driver makes every other statement wait for the end of these, even for ever. */
  private final Queue<CopyOperation> copies = new ConcurrentLinkedQueue<>();

  /** Each thread that calls the driver holds the read lock. */
  private final ReentrantReadWriteLock use = new ReentrantReadWriteLock();

  private final Connection connection;
  private volatile boolean ended;

  GuardedConnection(Connection connection) {
    this.connection = connection;
    this.proxy =
        (Connection)
            Proxy.newProxyInstance(
                GuardedConnection.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                new Guarded(connection, null));
  }

  /** Returns the connection for the handler, always the same. */
  Connection proxy() {
    return proxy;
  }

  void end() {
    ended = true;
  }

  /** Returns whether no other thread is calling the driver, and no {@code COPY} is under way. */
  boolean isUnused() {
    return use.getReadLockCount() == use.getReadHoldCount()
        && copies.stream().noneMatch(CopyOperation::isActive);
  }

  /**
   * Waits until the connection {@linkplain #isUnused is unused}. Once the handler's use has ended,
   * no other thread starts a call to the driver. Returns false if the wait was too short.
   */
  boolean awaitUnused() {
    if (isUnused()) {
      return true;
    }
    try {
      boolean unused = use.writeLock().tryLock(MAX_WAIT.toNanos(), TimeUnit.NANOSECONDS);
      if (unused) {
        use.writeLock().unlock();
      }
      return unused && isUnused();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private void checkUse() throws SQLException {
    if (ended) {
      throw new SQLException(
          "the transaction of this call has ended, because its handler has answered or returned, or"
              + " was given up: use the transaction before the handler answers",
          PSQLState.OBJECT_NOT_IN_STATE.getState());
    }
  }

  private static IllegalStateException endedByInterceptor(String problem) {
    return new IllegalStateException(
        "the interceptor ends this transaction, not the handler: " + problem);
  }

  private static void checkText(String method, @Nullable Object @Nullable [] arguments) {
    Optional<String> end =
        arguments != null
                && arguments.length > 0
                && arguments[0] instanceof String sql
                && takesText(method)
            ? TransactionEnd.in(sql)
            : Optional.empty();
    if (end.isPresent()) {
      throw endedByInterceptor(end.get().toUpperCase(Locale.ROOT) + " was not sent");
    }
  }

  private static boolean isSql(Class<?> type) {
    return type.getName().startsWith("java.sql.");
  }

  private static boolean takesText(String method) {
    return method.startsWith("prepare") || method.startsWith("exec") || method.equals("addBatch");
  }

  /** Returns the object behind a guard, because the driver casts arguments to its own classes. */
  private static @Nullable Object behind(@Nullable Object value) {
    return value != null
            && Proxy.isProxyClass(value.getClass())
            && Proxy.getInvocationHandler(value) instanceof Guarded guarded
        ? guarded.target()
        : value;
  }

  /** An object that belongs to the connection. */
  private final class Guarded implements InvocationHandler {
    private final Object target;

    /** The object that has returned this one; null for the connection itself. */
    private final @Nullable Object creator;

    Guarded(Object target, @Nullable Object creator) {
      this.target = target;
      this.creator = creator;
    }

    Object target() {
      return creator == null ? connection : target;
    }

    @Override
    public @Nullable Object invoke(
        Object self, Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
      if (method.getDeclaringClass() == Object.class) {
        return switch (method.getName()) {
          case "equals" -> arguments != null && target() == behind(arguments[0]);
          case "hashCode" -> System.identityHashCode(target());
          default -> target().toString();
        };
      }
      if (method.getName().equals("close") && target instanceof Connection) {
        return null; // the interceptor closes it; handlers often use try-with-resources
      }
      boolean entered = use.readLock().tryLock(); // fails only after the end
      try {
        if (!RELEASING.contains(method.getName())) {
          check(method, arguments);
        } else if (!entered || ended) {
          return method.getName().equals("isClosed") ? true : null;
        }
        return call(self, method, arguments);
      } finally {
        if (entered) {
          use.readLock().unlock();
        }
      }
    }

    private void check(Method method, @Nullable Object @Nullable [] arguments) throws SQLException {
      try {
        checkUse();
      } catch (SQLException refusal) {
        if (Stream.of(method.getExceptionTypes()).noneMatch(SQLException.class::equals)) {
          throw new IllegalStateException(refusal.getMessage(), refusal);
        }
        throw refusal;
      }
      String name = method.getName();
      boolean rollsBack = name.equals("rollback") && arguments == null;
      if (target instanceof Connection && (rollsBack || ENDING.contains(name))) {
        throw endedByInterceptor(name + " must not be called");
      }
      checkText(name, arguments);
    }

    private @Nullable Object call(
        Object self, Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
      if (arguments == null) {
        return guarded(self, method, Driver.invoke(method, target(), null));
      }
      @Nullable Object[] plain = Stream.of(arguments).map(GuardedConnection::behind).toArray();
      boolean unwraps = method.getName().equals("unwrap");
      if (!(plain[0] instanceof Class<?> type
          && (unwraps || method.getName().equals("isWrapperFor")))) {
        Object result = Driver.invoke(method, target(), plain);
        return target instanceof ResultSet row && (result instanceof Blob || result instanceof Clob)
            ? Driver.largeObjectOn(proxy, result, row, requireNonNull(plain[0]))
            : guarded(self, method, result);
      }
      if (type.isInstance(self)) {
        return unwraps ? self : (Object) true;
      }
      Object result = guarded(self, method, Driver.invoke(method, target(), plain));
      if (!unwraps) {
        return type.isInterface() ? result : (Object) false;
      }
      if (!type.isInstance(result)) {
        throw new SQLException(
            "the connection of a handler cannot be unwrapped to %s: unwrap it to PGConnection"
                .formatted(type.getName()));
      }
      return result;
    }

    /** Puts the result of a method behind the guard if the result can use the connection. */
    private @Nullable Object guarded(Object self, Method method, @Nullable Object result)
        throws SQLException {
      if (result == null || result != behind(result)) {
        return result;
      }
      if (method.getName().equals("getConnection")) {
        return proxy;
      }
      if (method.getName().equals("getStatement") && creator instanceof Statement) {
        return creator;
      }
      if (result instanceof CopyOperation copy) {
        copies.add(copy);
      }
      if (Driver.isTool(result)) {
        return tool(result);
      }
      List<Class<?>> types = INTERFACES.get(result.getClass());
      boolean guarded =
          method.getReturnType().isInterface() || types.stream().anyMatch(GuardedConnection::isSql);
      return types.isEmpty() || !guarded
          ? result
          : Proxy.newProxyInstance(
              GuardedConnection.class.getClassLoader(),
              types.toArray(Class<?>[]::new),
              new Guarded(result, self));
    }

    private Object tool(Object ofDriver) throws SQLException {
      Object known = tools.get(ofDriver.getClass());
      if (known == null) {
        known = Driver.toolOn(proxy, ofDriver);
        tools.put(ofDriver.getClass(), known);
      }
      return known;
    }
  }
}
