package io.github.grpcidempotency.postgres.internal.driver;

import com.google.common.base.Splitter;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An object behind a JDBC interface of which it changes some methods. A subclass declares each of
 * these with its name and its parameters, as {@link Replaces}. All others go to {@link #other}.
 *
 * @param <T> the interface
 */
public abstract class JdbcProxy<T> {
  private static final Map<Class<?>, Map<Method, Method>> REPLACED = new ConcurrentHashMap<>();

  private final Class<T> type;
  private final Map<Method, Method> replaced;
  private @Nullable T proxy;

  /**
   * A method that is called instead of the interface's method of the same name and parameters. If
   * the interface has none, no object of the class can be created.
   */
  @Retention(RetentionPolicy.RUNTIME)
  @Target(ElementType.METHOD)
  public @interface Replaces {}

  protected JdbcProxy(Class<T> type) {
    this.type = type;
    this.replaced = REPLACED.computeIfAbsent(getClass(), own -> replacedBy(own, type));
  }

  private static Map<Method, Method> replacedBy(Class<?> own, Class<?> type) {
    Map<Method, Method> replaced = new HashMap<>();
    for (Method method : own.getDeclaredMethods()) {
      if (method.isAnnotationPresent(Replaces.class)) {
        method.setAccessible(true);
        try {
          replaced.put(type.getMethod(method.getName(), method.getParameterTypes()), method);
        } catch (NoSuchMethodException misspelt) {
          throw new IllegalStateException(misspelt);
        }
      }
    }
    return replaced;
  }

  /** Returns the methods of an interface with some names, which are separated by spaces. */
  protected static Set<Method> methods(Class<?> type, String names) {
    Set<Method> found = new HashSet<>();
    for (String name : Splitter.on(' ').split(names)) {
      List<Method> named =
          Stream.of(type.getMethods()).filter(method -> method.getName().equals(name)).toList();
      if (named.isEmpty()) {
        throw new IllegalStateException(type + " has no method " + name);
      }
      found.addAll(named);
    }
    return Set.copyOf(found);
  }

  private @Nullable Object notReplaced(
      Object self, Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
    return switch (method.getName()) {
      case "equals" -> arguments != null && self == arguments[0];
      case "hashCode" -> System.identityHashCode(self);
      case "toString" -> toString();
      default -> other(method, arguments);
    };
  }

  /** Returns the object behind the interface, always the same. */
  public final synchronized T proxy() {
    if (proxy == null) {
      proxy =
          type.cast(
              Proxy.newProxyInstance(
                  JdbcProxy.class.getClassLoader(), new Class<?>[] {type}, this::invoke));
    }
    return proxy;
  }

  private @Nullable Object invoke(
      Object self, Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
    Method own = replaced.get(method);
    return own == null ? notReplaced(self, method, arguments) : Driver.invoke(own, this, arguments);
  }

  /** Called for each method that is not replaced. */
  protected abstract @Nullable Object other(Method method, @Nullable Object @Nullable [] arguments)
      throws Throwable;

  @Override
  public abstract String toString();
}
