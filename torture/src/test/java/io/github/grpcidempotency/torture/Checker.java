package io.github.grpcidempotency.torture;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.torture.History.Answer;
import io.github.grpcidempotency.torture.History.Call;
import io.github.grpcidempotency.torture.History.Change;
import io.github.grpcidempotency.torture.History.CommittedEffect;
import io.github.grpcidempotency.torture.History.Fault;
import io.github.grpcidempotency.torture.History.Purpose;
import io.github.grpcidempotency.torture.History.StoredAnswer;
import io.github.grpcidempotency.torture.Operation.Scope;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Holds a history against the rules, key by key. Knows nothing but the history. */
final class Checker {
  private static final long DEADLINE_GRACE_MILLIS = 5_000;

  private final History history;
  private final Map<Scope, List<CommittedEffect>> effects;
  private final Map<Scope, Set<ByteString>> stored;
  private final List<Violation> violations = new ArrayList<>();

  private Checker(History history) {
    this.history = history;
    this.effects =
        history.effects().stream().collect(Collectors.groupingBy(CommittedEffect::scope));
    this.stored =
        history.stored().stream()
            .collect(
                Collectors.groupingBy(
                    StoredAnswer::scope,
                    Collectors.mapping(StoredAnswer::bytes, Collectors.toSet())));
  }

  /** Returns what is wrong; empty if nothing is. */
  static List<Violation> check(History history) {
    return new Checker(history).run();
  }

  private List<Violation> run() {
    Map<Scope, List<Call>> calls =
        history.calls().stream().collect(Collectors.groupingBy(Call::scope));
    calls.forEach(this::checkKey);
    effects.forEach(this::checkEffects);
    history.changes().stream().filter(change -> !change.isTakeover()).forEach(this::changed);
    history.calls().forEach(this::checkEnd);
    return violations;
  }

  private void checkKey(Scope scope, List<Call> calls) {
    Set<ByteString> answers = new HashSet<>();
    for (Call call : calls) {
      call.answer()
          .ifPresent(
              answer -> {
                checkBelongs(call, answer);
                if (answers.add(answer.bytes())) {
                  checkKept(scope, answer);
                }
              });
    }
    if (answers.size() > 1) {
      violate(Rule.ONE_ANSWER, scope, answers.size() + " different answers");
    }
    checkRefusals(scope, calls);
    checkProbes(scope, calls);
  }

  private void checkBelongs(Call call, Answer answer) {
    if (!answer.scope().equals(call.scope())) {
      violate(Rule.NO_STRANGER_ANSWERED, call.scope(), "answered for " + answer.scope());
    } else if (!answer.payload().equals(call.payload())
        || !answer.form().equals(call.form().name())) {
      violate(
          Rule.NO_MISMATCH_ANSWERED,
          call.scope(),
          "%s was answered with what %s said".formatted(call.form(), answer.form()));
    }
  }

  private void checkKept(Scope scope, Answer answer) {
    long written =
        effects.getOrDefault(scope, List.of()).stream()
            .filter(effect -> effect.value().equals(answer.value()))
            .count();
    if (written != 1) {
      violate(Rule.ANSWER_HAS_EFFECT, scope, written + " effects with the value answered");
    }
    if (!stored.getOrDefault(scope, Set.of()).contains(answer.bytes())) {
      violate(Rule.ANSWER_IS_RECORDED, scope, "the answer is not on record");
    }
  }

  private void checkRefusals(Scope scope, List<Call> calls) {
    boolean refused =
        calls.stream().anyMatch(call -> call.reason().equals("IDEMPOTENCY_KEY_REUSED"));
    long requests = calls.stream().map(call -> call.form() + call.payload()).distinct().count();
    if (refused && requests == 1) {
      violate(Rule.NO_FALSE_REFUSAL, scope, "refused as reused, and used once");
    }
  }

  private void checkProbes(Scope scope, List<Call> calls) {
    List<Call> probes = calls.stream().filter(call -> call.purpose() == Purpose.PROBE).toList();
    if (!probes.isEmpty() && probes.stream().noneMatch(Call::isOk)) {
      Call last = probes.get(probes.size() - 1);
      violate(Rule.KEY_USABLE, scope, "%s %s".formatted(last.code(), last.reason()));
    }
  }

  private void checkEffects(Scope scope, List<CommittedEffect> ofKey) {
    if (ofKey.size() < 2) {
      return;
    }
    String what =
        ofKey.size()
            + " effects: "
            + ofKey.stream()
                .sorted(Comparator.comparing(CommittedEffect::at))
                .map(
                    effect ->
                        "%s on %s at %d".formatted(effect.form(), effect.server(), effect.at()))
                .collect(Collectors.joining(", "));
    if (ofKey.stream().anyMatch(effect -> effect.form().joins())) {
      if (ofKey.stream().allMatch(effect -> effect.form().joins()) || !isExplained(ofKey)) {
        violate(Rule.ONE_EFFECT, scope, what);
      }
    } else if (!isExplained(ofKey)) {
      violate(Rule.NO_UNEXPLAINED_EFFECT, scope, what);
    }
  }

  /** Whether something broke, between the first effect and the last, that costs a repetition. */
  private boolean isExplained(List<CommittedEffect> ofKey) {
    long slack = 2 * history.lease().toMillis() + 1_000;
    long first = ofKey.stream().mapToLong(CommittedEffect::at).min().orElseThrow() - slack;
    long last = ofKey.stream().mapToLong(CommittedEffect::at).max().orElseThrow();
    return history.faults().stream()
        .filter(fault -> fault.kind().excusesRepetition(fault.detail()))
        .anyMatch(fault -> touches(fault, first, last));
  }

  private static boolean touches(Fault fault, long first, long last) {
    return fault.end() >= first && fault.start() <= last;
  }

  private void changed(Change change) {
    violate(
        Rule.RECORD_STANDS,
        change.scope(),
        "%s of a completed record at %d".formatted(change.kind(), change.at()));
  }

  private void checkEnd(Call call) {
    long late = call.end() - call.deadline();
    if (late > DEADLINE_GRACE_MILLIS) {
      violate(Rule.CALL_ENDS, call.scope(), "ended %d ms after its deadline".formatted(late));
    }
  }

  private void violate(Rule rule, Scope scope, String what) {
    violations.add(new Violation(rule, scope, what));
  }
}
