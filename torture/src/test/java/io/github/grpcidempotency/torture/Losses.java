package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.torture.History.Call;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * What a failover may take back where replication is asynchronous: the latest commits of the time
 * line that it ends. Where replication is synchronous, nothing.
 */
final class Losses {
  private final History history;

  Losses(History history) {
    this.history = history;
  }

  /** Whether what was confirmed at a call's end, or before, can be gone at a later time. */
  boolean mayHaveHit(Call call, long later) {
    return history.replication().mayLose()
        && history.faults().stream()
            .filter(fault -> fault.kind().isFailover())
            .anyMatch(fault -> fault.touches(call.start(), later));
  }

  /** Returns how many different answers of one key were given, at most, on one time line. */
  long answersOfOneTimeline(Collection<UUID> values) {
    if (!history.replication().mayLose()) {
      return values.size();
    }
    Map<UUID, Long> timelines = history.replication().timelines();
    return values.stream()
        .filter(timelines::containsKey)
        .collect(Collectors.groupingBy(timelines::get, Collectors.counting()))
        .values()
        .stream()
        .mapToLong(Long::longValue)
        .max()
        .orElse(0);
  }

  /** Returns how many answers that clients got are gone, by the method that gave them. */
  static Map<Form, Long> of(History history) {
    Set<UUID> found = new HashSet<>();
    history.stored().forEach(record -> found.add(record.value()));
    history.effects().stream()
        .filter(effect -> !effect.guarded()) // which is on no record
        .forEach(effect -> found.add(effect.value()));
    return history.calls().stream()
        .flatMap(call -> call.answer().stream())
        .distinct()
        .filter(answer -> !found.contains(answer.value()))
        .collect(
            Collectors.groupingBy(
                answer -> Form.valueOf(answer.form()), TreeMap::new, Collectors.counting()));
  }
}
