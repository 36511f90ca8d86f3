package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.torture.History.Call;
import io.github.grpcidempotency.torture.History.CommittedEffect;
import io.github.grpcidempotency.torture.History.Fault;
import io.github.grpcidempotency.torture.Operation.Scope;
import io.grpc.Status.Code;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The times when the database was read-only, and the calls that had to be answered all the same.
 */
final class ReadOnlyPhases {
  private static final long SETTLED_MILLIS = 1_000;

  private final History history;
  private final Excuses excuses;
  private final Map<Scope, Call> firstAnswers = new HashMap<>();

  private ReadOnlyPhases(History history) {
    this.history = history;
    this.excuses = new Excuses(history);
    Set<UUID> unguarded =
        history.effects().stream()
            .filter(effect -> !effect.guarded())
            .map(CommittedEffect::value)
            .collect(Collectors.toCollection(HashSet::new));
    history.calls().stream()
        .filter(
            call -> call.answer().map(answer -> !unguarded.contains(answer.value())).orElse(false))
        .forEach(
            call ->
                firstAnswers.merge(
                    call.scope(), call, (one, other) -> one.end() <= other.end() ? one : other));
  }

  static ReadOnlyPhases of(History history) {
    return new ReadOnlyPhases(history);
  }

  /**
   * Returns the calls that began and ended in one of these times, that no other fault affected, and
   * whose answer was recorded.
   */
  Stream<Call> within() {
    List<Fault> phases =
        history.faults().stream().filter(fault -> fault.kind() == FaultKind.READ_ONLY).toList();
    return history.calls().stream()
        .filter(call -> phases.stream().anyMatch(phase -> isWithin(call, phase)))
        .filter(this::isRecorded)
        .filter(call -> !call.cancelled() && call.code() != Code.DEADLINE_EXCEEDED)
        .filter(call -> !excuses.isFragileToReplay(call))
        .filter(
            call ->
                !excuses.broke(
                    call.server(),
                    call.start() - SETTLED_MILLIS - history.lease().toMillis(),
                    call.end() + SETTLED_MILLIS,
                    kind -> kind != FaultKind.READ_ONLY && !kind.isLight()))
        .filter(
            call ->
                !excuses.broke(
                    call.server(), call.start() - SETTLED_MILLIS, call.end(), FaultKind::isLight));
  }

  /** For a while, calls still meet connections that were ended. */
  private static boolean isWithin(Call call, Fault phase) {
    return call.start() >= phase.start() + SETTLED_MILLIS && call.end() <= phase.end();
  }

  private boolean isRecorded(Call call) {
    Call first = firstAnswers.get(call.scope());
    return first != null
        && first.end() < call.start()
        && first.operation().form() == call.form()
        && first.payload().equals(call.payload());
  }
}
