package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.torture.History.Answer;
import io.github.grpcidempotency.torture.History.Call;
import java.util.Collection;
import java.util.List;
import java.util.Map;
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

  /** Returns the answers that clients got and that are gone, by the method that gave them. */
  static Map<Form, Long> of(History history) {
    List<UUID> recorded =
        history.stored().stream().map(History.StoredAnswer::value).distinct().toList();
    java.util.Set<UUID> kept = java.util.Set.copyOf(recorded);
    java.util.Set<UUID> unguarded =
        history.effects().stream()
            .filter(effect -> !effect.guarded())
            .map(History.CommittedEffect::value)
            .collect(Collectors.toSet());
    return history.calls().stream()
        .flatMap(call -> call.answer().stream())
        .filter(answer -> !kept.contains(answer.value()) && !unguarded.contains(answer.value()))
        .distinct()
        .collect(Collectors.groupingBy(answer -> formOf(answer), Collectors.counting()));
  }

  private static Form formOf(Answer answer) {
    return Form.valueOf(answer.form());
  }
}
