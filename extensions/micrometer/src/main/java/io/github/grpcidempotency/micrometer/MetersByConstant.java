package io.github.grpcidempotency.micrometer;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** One meter for each constant of an enum, registered when it is first needed. Thread-safe. */
final class MetersByConstant<E extends Enum<E>, M> {
  private final Map<E, M> meters = new ConcurrentHashMap<>();
  private final Function<E, M> register;

  MetersByConstant(Function<E, M> register) {
    this.register = register;
  }

  M of(E constant) {
    M meter = meters.get(constant);
    return meter != null ? meter : meters.computeIfAbsent(constant, register);
  }
}
