package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.event.IdempotencyListener;
import java.lang.reflect.Proxy;
import java.util.concurrent.ThreadLocalRandom;

/** Receives every event, of any kind, and sometimes throws. */
final class FailingListener {
  private FailingListener() {}

  /**
   * Makes a listener.
   *
   * @param percent how many of a hundred events it throws at
   */
  static IdempotencyListener of(int percent) {
    return (IdempotencyListener)
        Proxy.newProxyInstance(
            FailingListener.class.getClassLoader(),
            new Class<?>[] {IdempotencyListener.class},
            (proxy, event, arguments) -> {
              if (ThreadLocalRandom.current().nextInt(100) < percent) {
                throw failure();
              }
              return null;
            });
  }

  private static Throwable failure() {
    return switch (ThreadLocalRandom.current().nextInt(4)) {
      case 0 -> new AssertionError("a listener's assertion fails");
      case 1 -> new NoClassDefFoundError("a/listener/Needs");
      case 2 -> new StackOverflowError("a listener calls itself");
      default -> new IllegalStateException("a listener fails");
    };
  }
}
