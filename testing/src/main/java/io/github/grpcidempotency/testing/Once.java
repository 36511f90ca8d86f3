package io.github.grpcidempotency.testing;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * A supplier that caches the first value of another supplier. After a failure, the other supplier
 * is called again. Guava's {@code Suppliers} cannot be used: in Guava for Android, which gRPC
 * itself depends on, they do not implement {@code java.util.function.Supplier}. Thread-safe.
 */
final class Once<T> implements Supplier<T> {
  private final Supplier<T> first;
  private Optional<T> supplied = Optional.empty();

  Once(Supplier<T> first) {
    this.first = first;
  }

  @Override
  public synchronized T get() {
    if (supplied.isEmpty()) {
      supplied = Optional.of(first.get());
    }
    return supplied.get();
  }
}
