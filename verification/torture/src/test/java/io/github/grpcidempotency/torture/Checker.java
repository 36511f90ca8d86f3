package io.github.grpcidempotency.torture;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.proto.WireNames;
import io.github.grpcidempotency.torture.History.Answer;
import io.github.grpcidempotency.torture.History.Call;
import io.github.grpcidempotency.torture.History.Change;
import io.github.grpcidempotency.torture.History.CommittedEffect;
import io.github.grpcidempotency.torture.History.Fault;
import io.github.grpcidempotency.torture.History.Purpose;
import io.github.grpcidempotency.torture.History.StoredAnswer;
import io.github.grpcidempotency.torture.Operation.Scope;
import io.grpc.Status.Code;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Checks a history against the rules, key by key. It uses nothing but the history. */
final class Checker {
  private static final long DEADLINE_GRACE_MILLIS = 5_000;

  private static final int ENOUGH_OTHERS = 20;

  /** What a server reports if no call was left waiting. */
  static final String ALL_ENDED = "waiting=0 left=0";

  /** How often the recording of one effect may be refused for good within a run. */
  private static final int MAX_RECORDINGS = 15;

  private final History history;
  private final Excuses excuses;
  private final Losses losses;
  private final Map<Scope, List<CommittedEffect>> effects;
  private final Map<Scope, Set<ByteString>> stored;
  private final Map<Scope, List<Call>> calls;
  private final Set<UUID> unguarded;
  private final List<Violation> violations = new ArrayList<>();

  private Checker(History history) {
    this.history = history;
    this.excuses = new Excuses(history);
    this.losses = new Losses(history);
    this.unguarded =
        history.effects().stream()
            .filter(effect -> !effect.guarded())
            .map(CommittedEffect::value)
            .collect(Collectors.toSet());
    this.effects =
        history.effects().stream().collect(Collectors.groupingBy(CommittedEffect::scope));
    this.calls = history.calls().stream().collect(Collectors.groupingBy(Call::scope));
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
    calls.forEach(this::checkKey);
    checkRecords();
    checkJoinedEffects();
    effects.forEach(this::checkEffects);
    history.changes().stream().filter(change -> !change.isTakeover()).forEach(this::changed);
    history.effects().stream()
        .filter(effect -> !effect.guarded())
        .forEach(effect -> checkUnguarded(effect, calls.getOrDefault(effect.scope(), List.of())));
    history.calls().forEach(this::checkEnd);
    history.calls().stream().filter(call -> call.form().isGuarded()).forEach(this::checkRight);
    history
        .findings()
        .forEach(
            finding ->
                violate(
                    finding.rule(),
                    new Scope(new UUID(0, 0), finding.server()),
                    "%s at %d".formatted(finding.what(), finding.at())));
    checkNobodyIsForgotten();
    checkRecordings();
    history.faults().stream()
        .filter(fault -> fault.kind() == FaultKind.CLOSE)
        .forEach(this::checkClose);
    ReadOnlyPhases.of(history)
        .within()
        .filter(call -> !call.form().isGuarded() || call.session().hasRight())
        .filter(call -> !call.isOk())
        .forEach(
            call ->
                violate(
                    Rule.REPLAYED_WHILE_READ_ONLY,
                    call.scope(),
                    "%s got %s %s".formatted(call.form(), call.code(), call.reason())));
    return violations;
  }

  private void checkKey(Scope scope, List<Call> calls) {
    List<Call> guarded = new ArrayList<>();
    for (Call call : calls) {
      call.answer()
          .ifPresent(
              answer -> {
                checkBelongs(call, answer);
                if (!unguarded.contains(answer.value())) {
                  guarded.add(call); // the others' are on no record, and beside the one that is
                }
              });
    }
    lastWithEachAnswer(guarded).forEach((answer, call) -> checkKept(call, answer));
    long answers = losses.answersOfOneTimeline(guarded);
    if (answers > 1) {
      violate(Rule.ONE_ANSWER, scope, answers + " different answers");
    }
    checkRefusals(scope, calls);
    checkFailures(scope, calls);
    checkProbes(scope, calls);
  }

  /** Whoever gets an answer shows that nothing has taken it back until then. */
  private static Map<Answer, Call> lastWithEachAnswer(List<Call> calls) {
    return calls.stream()
        .collect(
            Collectors.toMap(
                call -> call.answer().orElseThrow(),
                call -> call,
                (one, other) -> one.start() > other.start() ? one : other));
  }

  private void checkBelongs(Call call, Answer answer) {
    if (!answer.scope().equals(call.scope())) {
      violate(Rule.NO_STRANGER_ANSWERED, call.scope(), "answered for " + answer.scope());
    } else if (!answer.payload().equals(call.payload())
        || !answer.form().equals(call.form().name())) {
      violate(
          Rule.NO_MISMATCH_ANSWERED,
          call.scope(),
          "%s was answered with the answer of %s".formatted(call.form(), answer.form()));
    }
  }

  /**
   * A record may be lost where the database may lose commits, and its effect as well if it is not
   * elsewhere. An effect is never lost without the record that came with it, or after it on the
   * same time line.
   */
  private void checkKept(Call call, Answer answer) {
    Scope scope = call.scope();
    long written = written(scope, answer.value());
    boolean recorded = stored.getOrDefault(scope, Set.of()).contains(answer.bytes());
    boolean mayBeLost = !recorded && losses.mayHaveHit(call, Long.MAX_VALUE);
    boolean mayBeWithout =
        written == 0
            && call.form() != Form.FAIL_OPEN
            && (mayBeLost || mayBeWrittenElsewhere(answer.scope(), call.form(), answer.value()));
    if (written != 1 && !mayBeWithout) {
      violate(Rule.ANSWER_HAS_EFFECT, scope, written + " effects with the value answered");
    }
    if (!recorded && !mayBeLost) {
      violate(Rule.ANSWER_IS_RECORDED, scope, "the answer is not on record");
    }
  }

  /**
   * Whether a handler that does not join may have written to an old primary that still took
   * connections, although its key was claimed on the new one: no time line shows that.
   */
  private boolean mayBeWrittenElsewhere(Scope scope, Form form, UUID value) {
    List<Call> ofKey = calls.getOrDefault(scope, List.of());
    long recorded =
        ofKey.stream()
            .filter(call -> call.answer().filter(given -> given.value().equals(value)).isPresent())
            .mapToLong(Call::end)
            .min()
            .orElse(Long.MAX_VALUE);
    return !form.joins()
        && form != Form.FAIL_OPEN
        && ofKey.stream()
            .min(Comparator.comparing(Call::start))
            .filter(first -> losses.hadTwoPrimaries(first, recorded))
            .isPresent();
  }

  /** Whether a client got its answer or not, an effect that joins its record is not without it. */
  private void checkJoinedEffects() {
    Set<UUID> recorded =
        history.stored().stream().map(StoredAnswer::value).collect(Collectors.toSet());
    history.effects().stream()
        .filter(effect -> effect.form().joins() && effect.guarded())
        .filter(effect -> !recorded.contains(effect.value()))
        .forEach(
            effect ->
                violate(
                    Rule.EFFECT_HAS_RECORD,
                    effect.scope(),
                    "%s on %s at %d".formatted(effect.form(), effect.server(), effect.at())));
  }

  /** The answers that clients got are checked with their calls. */
  private void checkRecords() {
    Set<ByteString> answered =
        history.calls().stream()
            .flatMap(call -> call.answer().stream())
            .map(Answer::bytes)
            .collect(Collectors.toSet());
    for (StoredAnswer record : history.stored()) {
      long written = written(record.scope(), record.value());
      boolean mayBeWithout =
          written == 0 && mayBeWrittenElsewhere(record.scope(), record.form(), record.value());
      if (!answered.contains(record.bytes()) && written != 1 && !mayBeWithout) {
        violate(
            Rule.RECORD_HAS_EFFECT, record.scope(), written + " effects with the value on record");
      }
    }
  }

  private long written(Scope scope, UUID value) {
    return effects.getOrDefault(scope, List.of()).stream()
        .filter(effect -> effect.value().equals(value))
        .count();
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
    if (!probes.isEmpty() && probes.stream().noneMatch(call -> call.isOk() || call.isTerminal())) {
      Call last = probes.get(probes.size() - 1);
      violate(Rule.KEY_USABLE, scope, "%s %s".formatted(last.code(), last.reason()));
    }
  }

  /** The calls that got a terminal failure while no fault kept it from being recorded. */
  private void checkFailures(Scope scope, List<Call> calls) {
    for (Call failed : calls) {
      if (failed.isTerminal() && !mayBeUnrecorded(failed)) {
        calls.stream()
            .filter(later -> later.start() > failed.end())
            .filter(later -> later.isTerminal() || later.isOk())
            .filter(later -> !later.reason().equals(failed.reason()))
            .filter(later -> !losses.mayHaveHit(failed, later.end()))
            .filter(later -> !mayBeUnprotected(later))
            .filter(
                later ->
                    later.answer().map(answer -> !unguarded.contains(answer.value())).orElse(true))
            .findFirst()
            .ifPresent(
                later ->
                    violate(
                        Rule.FAILURE_STANDS,
                        scope,
                        "failed for good on %s at %d, and got %s at %d"
                            .formatted(failed.form(), failed.end(), later.code(), later.start())));
      }
    }
  }

  /** Whether a call that fails open may have found no database, and so no record. */
  private boolean mayBeUnprotected(Call call) {
    return call.form() == Form.FAIL_OPEN
        && call.isTerminal()
        && excuses.broke(
            call.server(), call.start() - slack(), call.end(), FaultKind::preventsConnections);
  }

  private boolean mayBeUnrecorded(Call failed) {
    return excuses.isFragile(failed)
        || excuses.broke(failed.server(), failed.start() - slack(), failed.end(), kind -> true);
  }

  private void checkEffects(Scope scope, List<CommittedEffect> ofKey) {
    List<CommittedEffect> guarded = ofKey.stream().filter(CommittedEffect::guarded).toList();
    if (guarded.size() < 2) {
      return;
    }
    String what =
        guarded.size()
            + " effects: "
            + guarded.stream()
                .sorted(Comparator.comparing(CommittedEffect::at))
                .map(
                    effect ->
                        "%s on %s at %d".formatted(effect.form(), effect.server(), effect.at()))
                .collect(Collectors.joining(", "));
    if (guarded.stream().anyMatch(effect -> effect.form().joins())) {
      if (guarded.stream().allMatch(effect -> effect.form().joins()) || !isExplained(guarded)) {
        violate(Rule.ONE_EFFECT, scope, what);
      }
    } else if (!isExplained(guarded)) {
      violate(Rule.NO_UNEXPLAINED_EFFECT, scope, what);
    }
  }

  private void checkUnguarded(CommittedEffect effect, List<Call> calls) {
    Scope scope = effect.scope();
    String what = "%s on %s, begun at %d".formatted(effect.form(), effect.server(), effect.began());
    boolean readable =
        calls.stream()
            .filter(call -> call.end() < effect.began() - slack())
            .flatMap(call -> call.answer().stream())
            .anyMatch(answer -> !unguarded.contains(answer.value()));
    if (effect.form() != Form.FAIL_OPEN) {
      violate(Rule.NO_UNGUARDED_EFFECT, scope, what);
    } else if (!excuses.couldNotConnect(effect) && (readable || !excuses.failedOver(effect))) {
      violate(
          Rule.NO_UNGUARDED_EFFECT,
          scope,
          what + (readable ? ", and its record could be read" : ""));
    }
    if (effects.getOrDefault(scope, List.of()).stream()
        .anyMatch(holder -> isHeldBy(holder, effect))) {
      violate(Rule.NO_UNGUARDED_EFFECT_BESIDE_A_HOLDER, scope, what);
    }
  }

  /**
   * Whether one effect's handler ran unguarded while another handler in the same process held the
   * key.
   */
  private boolean isHeldBy(CommittedEffect holder, CommittedEffect effect) {
    return holder.guarded()
        && holder.server().equals(effect.server())
        && holder.began() < effect.began()
        && effect.began() < holder.at()
        && history.changes().stream()
            .noneMatch(change -> change.isTakeover() && change.scope().equals(effect.scope()));
  }

  /** Whether a fault between the first and the last effect explains a repetition. */
  private boolean isExplained(List<CommittedEffect> ofKey) {
    long first = ofKey.stream().mapToLong(CommittedEffect::at).min().orElseThrow() - slack();
    long last = ofKey.stream().mapToLong(CommittedEffect::at).max().orElseThrow();
    return history.faults().stream()
        .filter(fault -> fault.kind().excusesRepetition(fault.detail()))
        .filter(fault -> !isOutlasted(fault, ofKey))
        .anyMatch(fault -> fault.touches(first, last));
  }

  /**
   * Whether a claim had to outlast a failover: if nothing that is confirmed is lost, its lease goes
   * on for longer, and its handler writes elsewhere, which has not failed.
   */
  private boolean isOutlasted(Fault fault, List<CommittedEffect> ofKey) {
    return fault.kind().isFailover()
        && !history.replication().mayLose()
        && fault.end() - fault.start() < history.lease().toMillis() * 2 / 3
        && ofKey.stream().allMatch(effect -> effect.form() == Form.FAIL_OPEN);
  }

  private long slack() {
    return 2 * history.lease().toMillis() + 1_000;
  }

  private void changed(Change change) {
    violate(
        Rule.RECORD_STANDS,
        change.scope(),
        "%s of a completed record at %d".formatted(change.kind(), change.at()));
  }

  private void checkRight(Call call) {
    boolean denied = call.reason().equals(WireNames.REPLAY_DENIED);
    if (call.session().hasRight() && denied) {
      violate(Rule.ENTITLED_IS_ANSWERED, call.scope(), "denied to a session that has the right");
    }
    if (!call.session().hasRight() && call.isOk() && call.isOfRecord()) {
      violate(
          Rule.NO_UNENTITLED_ANSWERED,
          call.scope(),
          "%s of %d was answered".formatted(call.purpose(), call.start()));
    }
  }

  private void checkEnd(Call call) {
    long late = call.end() - call.deadline();
    if (late > DEADLINE_GRACE_MILLIS) {
      violate(Rule.CALL_ENDS, call.scope(), "ended %d ms after its deadline".formatted(late));
    }
    if (call.code() == Code.DATA_LOSS) {
      violate(
          Rule.LOST_CLAIM_IS_REFUSED,
          call.scope(),
          call.form() + " was answered although its claim was lost");
    }
    if (call.code() == Code.ALREADY_EXISTS) {
      violate(
          Rule.TWIN_IS_NO_ERROR, call.scope(), call.form() + " was answered with its twin's doing");
    }
  }

  /** Calls that ran into their deadlines although their server answered many later calls. */
  private void checkNobodyIsForgotten() {
    Map<Integer, long[]> answered = new HashMap<>();
    history.calls().stream()
        .collect(Collectors.groupingBy(Call::server))
        .forEach(
            (server, calls) ->
                answered.put(
                    server,
                    calls.stream().filter(Call::isOk).mapToLong(Call::start).sorted().toArray()));
    long lease = history.lease().toMillis();
    history.calls().stream()
        .filter(call -> call.code() == Code.DEADLINE_EXCEEDED && !call.cancelled())
        .filter(call -> call.deadline() - call.start() >= 3 * lease)
        .filter(call -> hadTimeForTwoRuns(call, lease))
        .filter(call -> call.session().manner() != Manner.NEVER)
        .filter(
            call ->
                between(answered.get(call.server()), call.start() + lease, call.deadline() - lease)
                    >= ENOUGH_OTHERS)
        .filter(
            call ->
                !excuses.broke(
                    call.server(),
                    call.start() - slack(),
                    call.end(),
                    kind -> !kind.isLight() || kind == FaultKind.SWALLOW_CLAIM))
        .filter(call -> !wroteAtItsDeadline(call))
        .filter(call -> !excuses.isCrowded(call))
        .forEach(
            call ->
                violate(
                    Rule.CALL_ENDS,
                    call.scope(),
                    "%s of %d was forgotten".formatted(call.form(), call.start())));
  }

  /** Whether a run that began within the call was so slow that it left no time for the answer. */
  private boolean wroteAtItsDeadline(Call call) {
    return effects.getOrDefault(call.scope(), List.of()).stream()
        .filter(effect -> effect.isOf(call.server()))
        .filter(effect -> call.start() <= effect.began() && effect.began() < call.deadline())
        .mapToLong(effect -> Math.max(effect.at(), effect.began() + delayOf(call)))
        .anyMatch(end -> end > call.deadline() - history.lease().toMillis() / 2);
  }

  /**
   * A call may wait for a run that fails at its end, which leaves no trace, and then run itself.
   */
  private static boolean hadTimeForTwoRuns(Call call, long lease) {
    return call.deadline() - call.start() >= 2 * delayOf(call) + 2 * lease;
  }

  private static long delayOf(Call call) {
    return call.operation().request().getDelayMillis();
  }

  private static long between(long @Nullable [] sorted, long first, long last) {
    return sorted == null ? 0 : Arrays.stream(sorted).filter(at -> at > first && at < last).count();
  }

  private void checkRecordings() {
    long most = (long) MAX_RECORDINGS * history.effects().size();
    if (history.refusedRecordings() > most) {
      violate(
          Rule.RECORDING_PAUSES,
          new Scope(new UUID(0, 0), "all"),
          "%d refused recordings of %d effects"
              .formatted(history.refusedRecordings(), history.effects().size()));
    }
  }

  private void checkClose(Fault close) {
    boolean excused =
        excuses.broke(
            close.server(),
            close.start() - slack(),
            close.end(),
            kind ->
                kind != FaultKind.CLOSE && (!kind.isLight() || kind == FaultKind.SWALLOW_CLAIM));
    if (!close.detail().equals(ALL_ENDED) && !excused) {
      violate(
          Rule.CLOSING_ENDS_CALLS,
          new Scope(new UUID(0, close.server()), ServerNode.name(close.server())),
          "%s when it closed at %d".formatted(close.detail(), close.start()));
    }
  }

  private void violate(Rule rule, Scope scope, String what) {
    violations.add(new Violation(rule, scope, what));
  }
}
