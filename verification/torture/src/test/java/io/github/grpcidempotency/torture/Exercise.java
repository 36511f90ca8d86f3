package io.github.grpcidempotency.torture;

import com.google.common.collect.ImmutableMap;
import io.github.grpcidempotency.proto.WireNames;
import io.github.grpcidempotency.torture.History.Answer;
import io.github.grpcidempotency.torture.History.Call;
import io.github.grpcidempotency.torture.History.Change;
import io.github.grpcidempotency.torture.History.CommittedEffect;
import io.github.grpcidempotency.torture.History.Fault;
import io.github.grpcidempotency.torture.History.Life;
import io.github.grpcidempotency.torture.History.Purpose;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a run has exercised. A run that has exercised too little proves nothing. */
record Exercise(Map<String, Long> counts) {
  /** How many calls must have been answered. */
  static final long LEAST_ANSWERS = 200;

  private static final long READ_ONLY_PHASES = 30;
  private static final String IN_BATCHES = "statements of calls in batches";
  private static final String WITHOUT_TIMELINE = "answers without a time line";

  /** The statements whose cuts are counted. */
  private static final ImmutableMap<String, String> CUTS =
      ImmutableMap.of(
          "COMMIT",
          Plan.COMMIT,
          "claim at commit",
          Plan.CLAIM_AT_COMMIT,
          "last flush",
          Plan.LAST_FLUSH);

  static Exercise of(History history) {
    Map<String, Long> counts = new LinkedHashMap<>();
    List<Call> calls = history.calls();
    counts.put("calls", (long) calls.size());
    counts.put("answered", calls.stream().filter(Call::isOk).count());
    for (Form form : Form.values()) {
      counts.put("answered " + form, answered(calls, form));
    }
    counts.put("keys", calls.stream().map(Call::scope).distinct().count());
    counts.put("effects", (long) history.effects().size());
    for (Form form : Form.values()) {
      counts.put("keys with two effects of " + form, repeated(history, form));
    }
    for (Way way : Way.values()) {
      counts.put(
          "effects " + way,
          history.effects().stream().filter(effect -> effect.way() == way).count());
    }
    counts.put("preempted", history.preempted());
    counts.put("batches", history.batches().batches());
    counts.put(IN_BATCHES, history.batches().calls());
    counts.put("marked as retries", calls.stream().filter(Exercise::isRetry).count());
    counts.put(
        "replays of retries",
        calls.stream().filter(Exercise::isRetry).filter(Call::replayed).count());
    counts.put("replays", calls.stream().filter(Call::replayed).count());
    counts.put("takeovers", history.changes().stream().filter(Change::isTakeover).count());
    counts.put("mismatches refused", reasons(calls, "IDEMPOTENCY_KEY_REUSED", Purpose.MISMATCH));
    counts.put("cancelled", calls.stream().filter(Call::cancelled).count());
    counts.put("terminal failures", calls.stream().filter(Call::isTerminal).count());
    for (Manner manner : Manner.values()) {
      counts.put(
          "calls " + manner,
          calls.stream().filter(call -> call.session().manner() == manner).count());
    }
    counts.put("waits by name", purpose(calls, Purpose.WAIT).count());
    counts.put("waits by name answered", purpose(calls, Purpose.WAIT).filter(Call::isOk).count());
    counts.put(
        "records denied",
        calls.stream().filter(call -> call.reason().equals(WireNames.REPLAY_DENIED)).count());
    counts.put("findings", (long) history.findings().size());
    counts.put("unguarded effects", unguarded(history));
    counts.put(
        "replays while read-only", ReadOnlyPhases.of(history).within().filter(Call::isOk).count());
    counts.put("probes", calls.stream().filter(call -> call.purpose() == Purpose.PROBE).count());
    Map<FaultKind, Long> faults = new EnumMap<>(FaultKind.class);
    history.faults().forEach(fault -> faults.merge(fault.kind(), 1L, Long::sum));
    for (FaultKind kind : FaultKind.values()) {
      counts.put(kind.name(), faults.getOrDefault(kind, 0L));
    }
    for (Map.Entry<String, String> statement : CUTS.entrySet()) {
      for (FaultKind kind : List.of(FaultKind.CUT_BEFORE, FaultKind.CUT_AFTER)) {
        counts.put(
            "%s %s".formatted(kind, statement.getKey()), cuts(history, kind, statement.getValue()));
      }
    }
    counts.put("time lines", timelines(history));
    counts.put(WITHOUT_TIMELINE, withoutTimeline(history));
    counts.put("records without their effects", withoutEffect(history));
    counts.put("server processes", (long) history.lives().size());
    for (Dimension dimension : Dimension.values()) {
      for (String value : new LinkedHashSet<>(dimension.choices())) {
        counts.put("%s %s".formatted(dimension, value), lives(history, dimension, value));
      }
    }
    counts.put("refused to start", history.lives().stream().filter(Life::isRefused).count());
    return new Exercise(counts);
  }

  /**
   * Returns what was exercised too little; empty if the run is meaningful.
   *
   * @param plan what was to be exercised
   */
  List<String> shortcomings(Plan plan) {
    Map<String, Long> least = new TreeMap<>();
    least.put("answered", LEAST_ANSWERS);
    least.put("replays", 50L);
    plan.forms().forEach(form -> least.put("answered " + form, 1L));
    if (plan.forms().contains(Form.LATE)) {
      for (Way way : List.of(Way.AT_COMMIT, Way.AT_COMMIT_WITH_NAME)) {
        least.put("effects " + way, few());
      }
      least.put("preempted", few());
    }
    if (plan.claims().contains(Plan.RESERVATION)) {
      least.put(IN_BATCHES, few());
    }
    plan.mix()
        .manners()
        .forEach(
            (manner, percent) -> {
              if (plan.forms().stream().anyMatch(form -> form.knows(manner))) {
                least.put("calls " + manner, few());
              }
            });
    if (plan.forms().contains(Form.GUARDED) && plan.mix().waiting() > 0) {
      least.put("waits by name answered", few());
      least.put("records denied", few());
    }
    if (plan.faults().containsKey(FaultKind.KILL)) {
      least.put("takeovers", 1L);
    }
    least.put("mismatches refused", few());
    least.put("cancelled", few());
    least.put("terminal failures", few());
    if (plan.faults().containsKey(FaultKind.REFUSE) && plan.forms().contains(Form.FAIL_OPEN)) {
      // A call fails open only in the few moments without a database: none of them in a short run.
      least.put("unguarded effects", Math.min(1, counts.getOrDefault("answered", 0L) / 5_000));
    }
    // A short run may have no retry in any of its few read-only moments.
    least.put(
        "replays while read-only",
        counts.getOrDefault("READ_ONLY", 0L) < READ_ONLY_PHASES ? 0L : 1L);
    for (FaultKind kind : plan.faults().keySet()) {
      if (kind != FaultKind.SKEW || ServerJvm.canSkewClocks()) {
        least.put(kind.name(), 1L);
      }
    }
    for (FaultKind cut : List.of(FaultKind.CUT_BEFORE, FaultKind.CUT_AFTER)) {
      if (plan.faults().containsKey(cut)) {
        least.put(cut + " COMMIT", 1L);
      }
    }
    if (plan.failsOver()) {
      // As many as those, and the one that they began with.
      least.put("time lines", failovers() + 1);
    }
    List<String> all = new ArrayList<>(missing(least));
    if (plan.failsOver() && counts.getOrDefault(WITHOUT_TIMELINE, 0L) > 0) {
      all.add("%s: %d".formatted(WITHOUT_TIMELINE, counts.get(WITHOUT_TIMELINE)));
    }
    return all;
  }

  private List<String> missing(Map<String, Long> least) {
    return least.entrySet().stream()
        .filter(entry -> counts.getOrDefault(entry.getKey(), 0L) < entry.getValue())
        .map(
            entry ->
                "%s: %d, at least %d expected"
                    .formatted(
                        entry.getKey(), counts.getOrDefault(entry.getKey(), 0L), entry.getValue()))
        .toList();
  }

  /** A short run on a slow machine makes few calls of each kind, and none of some kinds. */
  private long few() {
    return Math.min(5, counts.getOrDefault("answered", 0L) / 400);
  }

  /** How many faults must have made another node the primary; who is frozen may thaw too early. */
  private long failovers() {
    return Arrays.stream(FaultKind.values())
        .filter(FaultKind::isFailover)
        .filter(kind -> kind != FaultKind.PRIMARY_FREEZE && kind != FaultKind.MANAGER_FREEZE)
        .mapToLong(kind -> counts.getOrDefault(kind.name(), 0L))
        .sum();
  }

  /** Returns from the first to the last time line on which anything was written. */
  private static long timelines(History history) {
    LongSummaryStatistics written =
        history.replication().timelines().values().stream()
            .mapToLong(Long::longValue)
            .summaryStatistics();
    return written.getCount() == 0 ? 0 : written.getMax() - written.getMin() + 1;
  }

  private static long withoutEffect(History history) {
    Set<UUID> written =
        history.effects().stream().map(CommittedEffect::value).collect(Collectors.toSet());
    return history.stored().stream().filter(record -> !written.contains(record.value())).count();
  }

  /** What fails open writes elsewhere. */
  private static long withoutTimeline(History history) {
    return history.calls().stream()
        .filter(call -> call.form() != Form.FAIL_OPEN)
        .flatMap(call -> call.answer().stream())
        .map(Answer::value)
        .distinct()
        .filter(value -> !history.replication().timelines().containsKey(value))
        .count();
  }

  /** How often servers were killed. */
  long kills() {
    return counts.getOrDefault("KILL", 0L) + counts.getOrDefault("SKEW", 0L);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    counts.forEach((what, count) -> text.append("  %-38s %,10d%n".formatted(what, count)));
    return text.toString();
  }

  /** Returns for how many keys a handler of a method has run, under a claim, more than once. */
  private static long repeated(History history, Form form) {
    return history.effects().stream()
        .filter(effect -> effect.form() == form && effect.guarded())
        .collect(Collectors.groupingBy(CommittedEffect::scope, Collectors.counting()))
        .values()
        .stream()
        .filter(times -> times > 1)
        .count();
  }

  private static long reasons(List<Call> calls, String reason, Purpose purpose) {
    return calls.stream()
        .filter(call -> call.purpose() == purpose)
        .filter(call -> call.reason().equals(reason))
        .count();
  }

  private static Stream<Call> purpose(List<Call> calls, Purpose purpose) {
    return calls.stream().filter(call -> call.purpose() == purpose);
  }

  private static long answered(List<Call> calls, Form form) {
    return calls.stream().filter(Call::isOk).filter(call -> call.form() == form).count();
  }

  private static long unguarded(History history) {
    return history.effects().stream().filter(effect -> !effect.guarded()).count();
  }

  private static long lives(History history, Dimension dimension, String value) {
    return history.lives().stream()
        .filter(life -> !life.isRefused())
        .filter(life -> life.life().get(dimension).equals(value))
        .count();
  }

  private static boolean isRetry(Call call) {
    return call.purpose() == Purpose.RETRY;
  }

  private static long cuts(History history, FaultKind kind, String statement) {
    return history.faults().stream()
        .filter(fault -> fault.kind() == kind)
        .map(Fault::detail)
        .filter(statement::equals)
        .count();
  }
}
