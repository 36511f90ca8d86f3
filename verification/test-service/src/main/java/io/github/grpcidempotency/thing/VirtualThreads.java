package io.github.grpcidempotency.thing;

import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/**
 * Virtual threads for servers and interceptors, if the system property {@code test.virtualThreads}
 * is true. They need JDK 21, while this code is compiled for 17.
 */
final class VirtualThreads {
  private VirtualThreads() {}

  static Optional<Executor> wanted() {
    return Boolean.getBoolean("test.virtualThreads")
        ? Optional.of(newExecutor())
        : Optional.empty();
  }

  private static Executor newExecutor() {
    try {
      return (Executor) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    } catch (ReflectiveOperationException absent) {
      throw new IllegalStateException("test.virtualThreads needs JDK 21 or newer", absent);
    }
  }
}
