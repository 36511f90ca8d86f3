package io.github.grpcidempotency.testing;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * Supplies what another supplier has supplied once. Guava's {@code Suppliers} cannot be used: where
 * a build takes Guava for Android, as gRPC itself asks for, they are no suppliers of Java's. What
 * has failed is tried again. Thread-safe.
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
