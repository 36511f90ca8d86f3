package io.github.grpcidempotency.procedure.internal;

import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Calls functions that the service passes to the library: guards, resolvers, encryptions. Nothing
 * that such a function throws, not even an {@link Error}, reaches the caller.
 */
public final class ServiceFunction {
  private ServiceFunction() {}

  /**
   * Returns the result of a function.
   *
   * @param failed returns the documented result of a function that has thrown, or throws an
   *     exception of the library
   */
  public static <T> T call(Supplier<T> function, Function<Throwable, T> failed) {
    try {
      return function.get();
    } catch (Throwable thrown) {
      return failed.apply(thrown);
    }
  }
}
