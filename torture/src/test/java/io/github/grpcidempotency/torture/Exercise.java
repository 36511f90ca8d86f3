package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.torture.History.Call;
import io.github.grpcidempotency.torture.History.Change;
import io.github.grpcidempotency.torture.History.Fault;
import io.github.grpcidempotency.torture.History.Purpose;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a run has exercised. One that has exercised too little proves nothing. */
record Exercise(Map<String, Long> counts) {

  static Exercise of(History history) {
    Map<String, Long> counts = new LinkedHashMap<>();
    List<Call> calls = history.calls();
    counts.put("calls", (long) calls.size());
    counts.put("answered", calls.stream().filter(Call::isOk).count());
    counts.put("keys", calls.stream().map(Call::scope).distinct().count());
    counts.put("effects", (long) history.effects().size());
    counts.put("replays", calls.stream().filter(Call::replayed).count());
    counts.put("takeovers", history.changes().stream().filter(Change::isTakeover).count());
    counts.put("mismatches refused", reasons(calls, "IDEMPOTENCY_KEY_REUSED", Purpose.MISMATCH));
    counts.put("cancelled", calls.stream().filter(Call::cancelled).count());
    counts.put("probes", calls.stream().filter(call -> call.purpose() == Purpose.PROBE).count());
    Map<FaultKind, Long> faults = new EnumMap<>(FaultKind.class);
    history.faults().forEach(fault -> faults.merge(fault.kind(), 1L, Long::sum));
    for (FaultKind kind : FaultKind.values()) {
      counts.put(kind.name(), faults.getOrDefault(kind, 0L));
    }
    counts.put("CUT_BEFORE COMMIT", cuts(history, FaultKind.CUT_BEFORE));
    counts.put("CUT_AFTER COMMIT", cuts(history, FaultKind.CUT_AFTER));
    return new Exercise(counts);
  }

  /** Returns what there was too little of; empty if the run means something. */
  List<String> shortcomings() {
    Map<String, Long> least = new TreeMap<>();
    least.put("answered", 200L);
    least.put("replays", 50L);
    least.put("takeovers", 1L);
    least.put("mismatches refused", 5L);
    least.put("cancelled", 5L);
    for (FaultKind kind : FaultKind.values()) {
      if (kind != FaultKind.SKEW || ServerJvm.canSkewClocks()) {
        least.put(kind.name(), 1L);
      }
    }
    least.put("KILL", 2L);
    least.put("CUT_BEFORE COMMIT", 1L);
    least.put("CUT_AFTER COMMIT", 1L);
    return least.entrySet().stream()
        .filter(entry -> counts.getOrDefault(entry.getKey(), 0L) < entry.getValue())
        .map(
            entry ->
                "%s: %d, at least %d expected"
                    .formatted(
                        entry.getKey(), counts.getOrDefault(entry.getKey(), 0L), entry.getValue()))
        .toList();
  }

  /** How often servers were killed. */
  long kills() {
    return counts.getOrDefault("KILL", 0L) + counts.getOrDefault("SKEW", 0L);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    counts.forEach((what, count) -> text.append("  %-20s %,10d%n".formatted(what, count)));
    return text.toString();
  }

  private static long reasons(List<Call> calls, String reason, Purpose purpose) {
    return calls.stream()
        .filter(call -> call.purpose() == purpose)
        .filter(call -> call.reason().equals(reason))
        .count();
  }

  private static long cuts(History history, FaultKind kind) {
    return history.faults().stream()
        .filter(fault -> fault.kind() == kind)
        .map(Fault::detail)
        .filter(Plan.COMMIT::equals)
        .count();
  }
}
