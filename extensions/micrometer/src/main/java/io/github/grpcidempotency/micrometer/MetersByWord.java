package io.github.grpcidempotency.micrometer;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * One meter for each value of a tag, registered when it is first needed. Their number is limited;
 * all further values share one meter. Thread-safe.
 */
final class MetersByWord<M> {
  private final int most;
  private final Function<String, M> register;
  private final Map<String, M> meters = new ConcurrentHashMap<>();

  MetersByWord(int most, Function<String, M> register) {
    this.most = most;
    this.register = register;
  }

  M of(String word) {
    M meter = meters.get(word);
    return meter != null ? meter : admit(word);
  }

  private synchronized M admit(String word) {
    String admitted = meters.size() < most ? word : MetricTags.OTHER;
    return meters.computeIfAbsent(admitted, register);
  }
}
