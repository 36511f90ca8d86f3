package io.github.grpcidempotency.torture;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.torture.History.Answer;
import io.github.grpcidempotency.torture.History.Call;
import io.github.grpcidempotency.torture.History.Change;
import io.github.grpcidempotency.torture.History.CommittedEffect;
import io.github.grpcidempotency.torture.History.Fault;
import io.github.grpcidempotency.torture.History.Finding;
import io.github.grpcidempotency.torture.History.Life;
import io.github.grpcidempotency.torture.History.Purpose;
import io.github.grpcidempotency.torture.History.Replication;
import io.github.grpcidempotency.torture.History.Session;
import io.github.grpcidempotency.torture.History.StoredAnswer;
import io.github.grpcidempotency.torture.Operation.Scope;
import io.github.grpcidempotency.torture.v1.Effect;
import io.github.grpcidempotency.torture.v1.EffectRequest;
import io.grpc.Status.Code;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Hand-made histories: one that is right, and one that breaks each rule. */
class CheckerTest {
  private static final Scope ALICE = new Scope(new UUID(0, 1), "key");
  private static final Scope BOB = new Scope(new UUID(0, 2), "key");
  private static final UUID FIRST = new UUID(1, 1);
  private static final UUID SECOND = new UUID(1, 2);

  private final List<Call> calls = new ArrayList<>();
  private final List<CommittedEffect> effects = new ArrayList<>();
  private final List<Change> changes = new ArrayList<>();
  private final List<Finding> findings = new ArrayList<>();
  private final List<Fault> faults = new ArrayList<>();
  private final List<StoredAnswer> stored = new ArrayList<>();
  private long refusedRecordings;
  private Replication replication = Replication.NONE;
  private Duration lease = Duration.ofSeconds(1);
  private final List<Life> lives =
      new ArrayList<>(List.of(new Life(0, 0, 1_000_000, ServerLife.ordinary(), "")));

  @Test
  void aCallAndItsReplayBreakNothing() {
    committed(Form.JOINED, FIRST, 1_000);
    ok(wish(Form.JOINED, "a"), answer(ALICE, Form.JOINED, "a", FIRST));
    ok(wish(Form.JOINED, "a"), answer(ALICE, Form.JOINED, "a", FIRST));
    changes.add(new Change("TAKEOVER", ALICE, 500));
    assertThat(brokenRules()).isEmpty();
  }

  @Test
  void aCallThatFailedForGoodBreaksNothing() {
    failed(Purpose.WORK, Form.RESERVED, "a", Code.UNAVAILABLE, "");
    assertThat(brokenRules()).isEmpty();
  }

  @Test
  void aSecondEffectOfAJoinedKeyIsFoundEvenIfNoCallWasAnswered() {
    committed(Form.TRANSACTIONAL, FIRST, 1_000);
    committed(Form.TRANSACTIONAL, SECOND, 2_000);
    answer(ALICE, Form.TRANSACTIONAL, "a", FIRST);
    answer(ALICE, Form.TRANSACTIONAL, "a", SECOND);
    fault(FaultKind.KILL, "", 1_000, 2_000);
    assertThat(brokenRules()).containsExactly(Rule.ONE_EFFECT);
  }

  @Test
  void anAnswerThatIsNotToBeRecordedIsSentEverLessOften() {
    committed(Form.RESERVED, FIRST, 1_000);
    refusedRecordings = 13;
    assertThat(brokenRules()).isEmpty();
    refusedRecordings = 40;
    assertThat(brokenRules()).containsExactly(Rule.RECORDING_PAUSES);
  }

  @Test
  void aSecondEffectOfAReservedKeyNeedsAnExplanation() {
    committed(Form.RESERVED, FIRST, 10_000);
    committed(Form.RESERVED, SECOND, 12_000);
    fault(FaultKind.KILL, "", 30_000, 31_000);
    fault(FaultKind.CUT_AFTER, Plan.COMPLETION, 11_000, 11_000);
    assertThat(brokenRules()).containsExactly(Rule.NO_UNEXPLAINED_EFFECT);
  }

  @Test
  void aCrashExplainsASecondEffectOfAReservedKey() {
    committed(Form.RESERVED, FIRST, 10_000);
    committed(Form.RESERVED, SECOND, 12_000);
    fault(FaultKind.KILL, "", 10_500, 11_000);
    assertThat(brokenRules()).isEmpty();
  }

  @Test
  void anAnswerWithoutItsEffectIsSeen() {
    ok(wish(Form.JOINED, "a"), answer(ALICE, Form.JOINED, "a", FIRST));
    assertThat(brokenRules()).containsExactly(Rule.ANSWER_HAS_EFFECT);
  }

  @Test
  void anAnswerThatIsNotOnRecordIsSeen() {
    committed(Form.RESERVED, FIRST, 1_000);
    ok(wish(Form.RESERVED, "a"), answer(ALICE, Form.RESERVED, "a", FIRST));
    stored.clear();
    assertThat(brokenRules()).containsExactly(Rule.ANSWER_IS_RECORDED);
  }

  @Test
  void twoAnswersOfOneKeyAreSeen() {
    committed(Form.RESERVED, FIRST, 1_000);
    committed(Form.RESERVED, SECOND, 1_500);
    fault(FaultKind.STOP, "", 1_000, 2_000);
    ok(wish(Form.RESERVED, "a"), answer(ALICE, Form.RESERVED, "a", FIRST));
    ok(wish(Form.RESERVED, "a"), answer(ALICE, Form.RESERVED, "a", SECOND));
    assertThat(brokenRules()).containsExactly(Rule.ONE_ANSWER);
  }

  @Test
  void anAnswerToAnotherRequestIsSeen() {
    committed(Form.JOINED, FIRST, 1_000);
    ok(wish(Form.JOINED, "b"), answer(ALICE, Form.JOINED, "a", FIRST));
    assertThat(brokenRules()).containsExactly(Rule.NO_MISMATCH_ANSWERED);
  }

  @Test
  void anAnswerOfAnotherMethodIsSeen() {
    committed(Form.JOINED, FIRST, 1_000);
    ok(wish(Form.RESERVED, "a"), answer(ALICE, Form.JOINED, "a", FIRST));
    assertThat(brokenRules()).containsExactly(Rule.NO_MISMATCH_ANSWERED);
  }

  @Test
  void anAnswerOfAnotherUserIsSeen() {
    committed(Form.JOINED, FIRST, 1_000);
    ok(wish(Form.JOINED, "a"), answer(BOB, Form.JOINED, "a", FIRST));
    assertThat(brokenRules()).containsExactly(Rule.NO_STRANGER_ANSWERED);
  }

  @Test
  void aChangedRecordIsSeen() {
    changes.add(new Change("DELETE", ALICE, 1_000));
    assertThat(brokenRules()).containsExactly(Rule.RECORD_STANDS);
  }

  @Test
  void aRecordWithoutAnEffectIsFoundEvenIfNoCallWasAnswered() {
    committed(Form.RESERVED, FIRST, 1_000);
    answer(ALICE, Form.JOINED, "a", SECOND);
    failed(Purpose.WORK, Form.JOINED, "a", Code.UNAVAILABLE, "");
    assertThat(brokenRules()).containsExactly(Rule.RECORD_HAS_EFFECT);
  }

  @Test
  void aRefusalForNothingIsSeen() {
    failed(Purpose.WORK, Form.JOINED, "a", Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REUSED");
    assertThat(brokenRules()).containsExactly(Rule.NO_FALSE_REFUSAL);
  }

  @Test
  void aRefusalOfASecondRequestBreaksNothing() {
    failed(Purpose.WORK, Form.JOINED, "a", Code.UNAVAILABLE, "");
    failed(Purpose.MISMATCH, Form.JOINED, "b", Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REUSED");
    assertThat(brokenRules()).isEmpty();
  }

  @Test
  void aKeyThatStaysBlockedIsSeen() {
    failed(Purpose.PROBE, Form.JOINED, "a", Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    assertThat(brokenRules()).containsExactly(Rule.KEY_USABLE);
  }

  @Test
  void aCallThatOutlivesItsDeadlineIsSeen() {
    Operation wish = wish(Form.JOINED, "a");
    calls.add(call(Purpose.WORK, wish, 0, 60_000, 3_000, Code.DEADLINE_EXCEEDED, ""));
    assertThat(brokenRules()).containsExactly(Rule.CALL_ENDS);
  }

  @Test
  void anUnguardedEffectIsSeen() {
    unguarded(Form.FAIL_OPEN, FIRST, 50_000);
    fault(FaultKind.REFUSE, "", 10_000, 11_000);
    fault(FaultKind.EXHAUST, "", 49_000, 51_000);
    fault(FaultKind.SWALLOW_CLAIM, "", 49_000, 51_000);
    fault(FaultKind.CUT_ALL, "", 49_000, 51_000);
    assertThat(brokenRules()).containsExactly(Rule.NO_UNGUARDED_EFFECT);
  }

  @Test
  void aServerWithoutConnectionsExplainsAnUnguardedEffect() {
    unguarded(Form.FAIL_OPEN, FIRST, 50_000);
    ok(wish(Form.FAIL_OPEN, "a"), answer(ALICE, Form.FAIL_OPEN, "a", FIRST));
    stored.clear();
    fault(FaultKind.REFUSE, "", 48_000, 49_000);
    assertThat(brokenRules()).isEmpty();
  }

  @Test
  void timeInWhichAServerIsStoppedDoesNotCountForItsPool() {
    unguarded(Form.FAIL_OPEN, FIRST, 50_000);
    fault(FaultKind.REFUSE, "", 43_000, 44_000);
    assertThat(brokenRules()).containsExactly(Rule.NO_UNGUARDED_EFFECT);
    fault(FaultKind.STOP, "", 46_000, 49_990);
    assertThat(brokenRules()).isEmpty();
  }

  @Test
  void connectionsThatAreCutExplainAnUnguardedEffectOnlyOfAServerThatIsStopped() {
    unguarded(Form.FAIL_OPEN, FIRST, 50_000);
    fault(FaultKind.CUT_ALL, "", 48_000, 48_000);
    assertThat(brokenRules()).containsExactly(Rule.NO_UNGUARDED_EFFECT);
    fault(FaultKind.STOP, "", 47_500, 49_990);
    assertThat(brokenRules()).isEmpty();
  }

  @Test
  void anotherServersOutageExplainsNoUnguardedEffect() {
    unguarded(Form.FAIL_OPEN, FIRST, 50_000);
    faults.add(new Fault(FaultKind.REFUSE, 1, "", 48_000, 49_000));
    assertThat(brokenRules()).containsExactly(Rule.NO_UNGUARDED_EFFECT);
  }

  @Test
  void nothingExplainsAnUnguardedEffectOfAProcedureThatFailsClosed() {
    unguarded(Form.RESERVED, FIRST, 50_000);
    fault(FaultKind.DATABASE_KILL, "", 48_000, 51_000);
    assertThat(brokenRules()).containsExactly(Rule.NO_UNGUARDED_EFFECT);
  }

  @Test
  void aReadOnlyDatabaseExplainsNoUnguardedEffect() {
    unguarded(Form.FAIL_OPEN, FIRST, 50_000);
    fault(FaultKind.READ_ONLY, "", 49_000, 51_000);
    assertThat(brokenRules()).containsExactly(Rule.NO_UNGUARDED_EFFECT);
  }

  @Test
  void anUnguardedEffectBesideAHolderOfItsProcessIsSeen() {
    effects.add(
        new CommittedEffect(
            ALICE, "server-0", Form.FAIL_OPEN, "a", FIRST, true, Way.PLAIN, 49_000, 51_000));
    unguarded(Form.FAIL_OPEN, SECOND, 50_000);
    fault(FaultKind.REFUSE, "", 48_000, 51_000);
    assertThat(brokenRules()).containsExactly(Rule.NO_UNGUARDED_EFFECT_BESIDE_A_HOLDER);
  }

  @Test
  void anAnswerAfterAFailureForGoodIsSeen() {
    failed(Purpose.WORK, Form.TRANSACTIONAL, "a", Code.FAILED_PRECONDITION, "first");
    committed(Form.TRANSACTIONAL, FIRST, 30);
    later(20, Code.OK, "", Optional.of(answer(ALICE, Form.TRANSACTIONAL, "a", FIRST)));
    assertThat(brokenRules()).containsExactly(Rule.FAILURE_STANDS);
  }

  @Test
  void anotherFailureOfAnUnprotectedRunIsNoFault() {
    failed(Purpose.WORK, Form.FAIL_OPEN, "a", Code.FAILED_PRECONDITION, "first");
    Operation again = wish(Form.FAIL_OPEN, "a");
    calls.add(
        call(Purpose.WORK, again, 50_000, 50_010, 53_000, Code.FAILED_PRECONDITION, "second"));
    assertThat(brokenRules()).containsExactly(Rule.FAILURE_STANDS);

    fault(FaultKind.REFUSE, "", 49_500, 51_000);
    assertThat(brokenRules()).isEmpty();
  }

  @Test
  void anotherFailureAfterAFailureForGoodIsSeen() {
    failed(Purpose.WORK, Form.TRANSACTIONAL, "a", Code.FAILED_PRECONDITION, "first");
    later(20, Code.FAILED_PRECONDITION, "second", Optional.empty());
    assertThat(brokenRules()).containsExactly(Rule.FAILURE_STANDS);
  }

  @Test
  void aFailureThatIsReplayedBreaksNothing() {
    failed(Purpose.WORK, Form.TRANSACTIONAL, "a", Code.FAILED_PRECONDITION, "first");
    later(20, Code.FAILED_PRECONDITION, "first", Optional.empty());
    assertThat(brokenRules()).isEmpty();
  }

  @Test
  void aRecordThatIsNotReplayedFromAReadOnlyDatabaseIsSeen() {
    committed(Form.JOINED, FIRST, 5);
    ok(wish(Form.JOINED, "a"), answer(ALICE, Form.JOINED, "a", FIRST));
    later(50_000, Code.UNAVAILABLE, "", Optional.empty());
    fault(FaultKind.READ_ONLY, "", 48_000, 52_000);
    assertThat(brokenRules()).containsExactly(Rule.REPLAYED_WHILE_READ_ONLY);
  }

  @Test
  void aDenialOfARecordInAReadOnlyDatabaseBreaksNothing() {
    Answer answer = recorded(Form.GUARDED);
    calls.add(guarded(Code.OK, "", false, true, Optional.of(answer)));
    calls.add(
        guarded(
            50_000,
            Code.PERMISSION_DENIED,
            "IDEMPOTENCY_REPLAY_DENIED",
            false,
            false,
            Optional.empty()));
    fault(FaultKind.READ_ONLY, "", 48_000, 52_000);
    assertThat(brokenRules()).isEmpty();
  }

  @Test
  void aLostClaimWhoseAnswerReachesAClientIsFound() {
    failed(Purpose.WORK, Form.JOINED, "a", Code.DATA_LOSS, "");
    assertThat(brokenRules()).containsExactly(Rule.LOST_CLAIM_IS_REFUSED);
  }

  @Test
  void aCallThatIsForgottenIsSeen() {
    forgotten();
    assertThat(brokenRules()).containsExactly(Rule.CALL_ENDS);
  }

  @Test
  void aHandlerThatWritesAtTheDeadlineIsSlowAndItsCallIsNotForgotten() {
    forgotten(12_900);
    assertThat(brokenRules()).isEmpty();
  }

  @Test
  void aCallThatIsForgottenIsSeenAlsoIfItsRetryWritesLater() {
    forgotten(14_000);
    assertThat(brokenRules()).contains(Rule.CALL_ENDS);
  }

  @Test
  void aServerThatWasStoppedMayKeepACallWaiting() {
    forgotten();
    fault(FaultKind.STOP, "", 11_000, 12_500);
    assertThat(brokenRules()).isEmpty();
  }

  @Test
  void aCallThatAClosingServerLeavesWaitingIsSeen() {
    fault(FaultKind.CLOSE, "waiting=1 left=0", 10_000, 12_000);
    assertThat(brokenRules()).containsExactly(Rule.CLOSING_ENDS_CALLS);
  }

  @Test
  void aServerThatClosesWithoutLeavingACallBreaksNothing() {
    fault(FaultKind.CLOSE, Checker.ALL_ENDED, 10_000, 12_000);
    assertThat(brokenRules()).isEmpty();
  }

  @Test
  void aJoinedEffectWithoutItsRecordIsSeenEvenIfNoCallWasAnswered() {
    committed(Form.JOINED, FIRST, 1_000);
    assertThat(brokenRules()).containsExactly(Rule.EFFECT_HAS_RECORD);
  }

  @Test
  void anAnswerThatAFailoverTakesBackIsGoneWithItsEffect() {
    ok(wish(Form.JOINED, "a"), answer(ALICE, Form.JOINED, "a", FIRST));
    stored.clear();
    replication = new Replication(true, Map.of());
    assertThat(brokenRules())
        .as("there was none")
        .containsExactly(Rule.ANSWER_HAS_EFFECT, Rule.ANSWER_IS_RECORDED);
    fault(FaultKind.PRIMARY_KILL, "", 5, 6_000);
    assertThat(brokenRules()).isEmpty();
    committed(Form.JOINED, FIRST, 1_000);
    assertThat(brokenRules()).as("half of it").containsExactly(Rule.EFFECT_HAS_RECORD);
  }

  @Test
  void aFailoverTakesNoEffectBackWithoutTheRecordOfItsCommit() {
    ok(wish(Form.JOINED, "a"), answer(ALICE, Form.JOINED, "a", FIRST));
    replication = new Replication(true, Map.of());
    fault(FaultKind.PRIMARY_KILL, "", 5, 6_000);
    assertThat(brokenRules()).containsExactly(Rule.ANSWER_HAS_EFFECT);
  }

  @Test
  void anEffectThatAFailoverTookBackIsNotOnRecordUnlessTwoNodesTookConnections() {
    failed(Purpose.WORK, Form.RESERVED, "a", Code.UNAVAILABLE, "");
    Answer answer = answer(ALICE, Form.RESERVED, "a", FIRST);
    later(7_000, Code.OK, "", Optional.of(answer));
    replication = new Replication(true, Map.of());
    fault(FaultKind.PRIMARY_KILL, "", 1_000, 6_000);
    assertThat(brokenRules()).as("one primary").containsExactly(Rule.ANSWER_HAS_EFFECT);
    fault(FaultKind.MANAGER_FREEZE, "", 1_000, 6_000);
    assertThat(brokenRules()).as("two primaries").isEmpty();
    calls.clear();
    assertThat(brokenRules()).as("nobody called").containsExactly(Rule.RECORD_HAS_EFFECT);
    later(500, Code.OK, "", Optional.of(answer));
    assertThat(brokenRules()).as("recorded before").containsExactly(Rule.ANSWER_HAS_EFFECT);
  }

  @Test
  void aFailoverTakesNoEffectBackThatIsElsewhere() {
    ok(wish(Form.FAIL_OPEN, "a"), answer(ALICE, Form.FAIL_OPEN, "a", FIRST));
    stored.clear();
    replication = new Replication(true, Map.of());
    fault(FaultKind.PRIMARY_KILL, "", 5, 6_000);
    assertThat(brokenRules()).containsExactly(Rule.ANSWER_HAS_EFFECT);
  }

  @Test
  void aFailoverTakesNothingBackWhereReplicationIsSynchronous() {
    ok(wish(Form.JOINED, "a"), answer(ALICE, Form.JOINED, "a", FIRST));
    stored.clear();
    fault(FaultKind.PRIMARY_KILL, "", 5, 6_000);
    assertThat(brokenRules()).containsExactly(Rule.ANSWER_HAS_EFFECT, Rule.ANSWER_IS_RECORDED);
  }

  @Test
  void aKeyHasOneAnswerOnEachTimeline() {
    ok(wish(Form.JOINED, "a"), answer(ALICE, Form.JOINED, "a", FIRST));
    stored.clear();
    committed(Form.JOINED, SECOND, 7_000);
    ok(wish(Form.JOINED, "a"), answer(ALICE, Form.JOINED, "a", SECOND));
    fault(FaultKind.MANAGER_FREEZE, "", 5, 6_000);
    replication = new Replication(true, Map.of(FIRST, 1L, SECOND, 2L));
    assertThat(brokenRules()).isEmpty();
    replication = new Replication(true, Map.of(FIRST, 2L, SECOND, 2L));
    assertThat(brokenRules()).containsExactly(Rule.ONE_ANSWER);
  }

  @Test
  void aKeyHasOneAnswerBetweenTwoFailoversWhereverItsEffectsAre() {
    committed(Form.FAIL_OPEN, FIRST, 3_000);
    committed(Form.FAIL_OPEN, SECOND, 12_000);
    Answer first = answer(ALICE, Form.FAIL_OPEN, "a", FIRST);
    stored.clear();
    Answer second = answer(ALICE, Form.FAIL_OPEN, "a", SECOND);
    fault(FaultKind.PRIMARY_KILL, "", 5_000, 10_000);
    fault(FaultKind.PRIMARY_KILL, "", 20_000, 25_000);
    replication = new Replication(true, Map.of());
    later(3_000, Code.OK, "", Optional.of(first));
    later(12_000, Code.OK, "", Optional.of(second));
    assertThat(brokenRules()).isEmpty();
    later(13_000, Code.OK, "", Optional.of(first));
    assertThat(brokenRules()).containsExactly(Rule.ONE_ANSWER);
  }

  @Test
  void anAnswerThatIsGivenAfterTheLastFailoverIsOnRecord() {
    Answer answer = answer(ALICE, Form.JOINED, "a", FIRST);
    stored.clear();
    fault(FaultKind.PRIMARY_KILL, "", 5_000, 10_000);
    replication = new Replication(true, Map.of(FIRST, 1L));
    later(3_000, Code.OK, "", Optional.of(answer));
    assertThat(brokenRules()).isEmpty();
    later(11_000, Code.OK, "", Optional.of(answer));
    assertThat(brokenRules()).containsExactly(Rule.ANSWER_HAS_EFFECT, Rule.ANSWER_IS_RECORDED);
  }

  @Test
  void aFailoverWithinALeaseExplainsNoSecondEffectElsewhere() {
    committed(Form.FAIL_OPEN, FIRST, 10_000);
    committed(Form.FAIL_OPEN, SECOND, 15_000);
    fault(FaultKind.PRIMARY_KILL, "", 9_000, 14_000);
    assertThat(brokenRules()).isEmpty();
    lease = Duration.ofMinutes(1);
    assertThat(brokenRules()).containsExactly(Rule.NO_UNEXPLAINED_EFFECT);
  }

  /** A call that ran into its deadline, beside many later calls that were answered. */
  private void forgotten() {
    forgotten(11_500);
  }

  private void forgotten(long written) {
    calls.add(call(10_000, 13_000, 13_000, Code.DEADLINE_EXCEEDED, "", Optional.empty()));
    committed(Form.JOINED, FIRST, written);
    Answer answer = answer(ALICE, Form.JOINED, "a", FIRST);
    for (int i = 0; i < 30; i++) {
      calls.add(call(11_500, 11_510, 14_500, Code.OK, "", Optional.of(answer)));
    }
  }

  private List<Rule> brokenRules() {
    return Checker.check(history()).stream().map(Violation::rule).distinct().toList();
  }

  private History history() {
    return new History(
        lease,
        calls,
        effects,
        changes,
        faults,
        stored,
        refusedRecordings,
        0,
        History.Batches.NONE,
        lives,
        replication,
        findings);
  }

  @Test
  void aRecordThatAnotherSessionGotIsSeen() {
    Answer answer = recorded(Form.GUARDED);
    calls.add(guarded(Code.OK, "", true, false, Optional.of(answer)));
    assertThat(brokenRules()).containsExactly(Rule.NO_UNENTITLED_ANSWERED);
  }

  @Test
  void theFirstAnswerNeedsNoRight() {
    Answer answer = recorded(Form.GUARDED);
    calls.add(guarded(Code.OK, "", false, false, Optional.of(answer)));
    assertThat(brokenRules()).isEmpty();
  }

  @Test
  void aDenialToASessionWithTheRightIsSeen() {
    calls.add(
        guarded(
            Code.PERMISSION_DENIED, "IDEMPOTENCY_REPLAY_DENIED", false, true, Optional.empty()));
    assertThat(brokenRules()).containsExactly(Rule.ENTITLED_IS_ANSWERED);
  }

  @Test
  void theErrorOfAHandlerWhoseTwinWasQuickerIsSeen() {
    failed(Purpose.WORK, Form.LATE, "a", Code.ALREADY_EXISTS, "");
    assertThat(brokenRules()).containsExactly(Rule.TWIN_IS_NO_ERROR);
  }

  @Test
  void aCallThatIsNeverAnsweredRunsIntoItsDeadlineUnseen() {
    for (int i = 0; i < 30; i++) {
      later(1_000 + i, Code.OK, "", Optional.empty());
    }
    for (Manner manner : List.of(Manner.NEVER, Manner.ELSEWHERE)) {
      Operation wish = wish(Form.JOINED, "a");
      Call call = call(Purpose.WORK, wish, 0, 3_000, 3_000, Code.DEADLINE_EXCEEDED, "");
      calls.add(with(call, false, Optional.empty(), new Session(manner, true)));
    }
    assertThat(brokenRules()).containsExactly(Rule.CALL_ENDS);
  }

  @Test
  void aFindingIsAViolation() {
    findings.add(new Finding(Rule.TRANSACTIONS_END, "server-0", "idle for 20000 ms", 1));
    assertThat(brokenRules()).containsExactly(Rule.TRANSACTIONS_END);
  }

  /** Returns an answer that is recorded, with its effect. */
  private Answer recorded(Form form) {
    UUID value = UUID.randomUUID();
    Answer answer = answer(ALICE, form, "a", value);
    effects.add(new CommittedEffect(ALICE, "server-0", form, "a", value, true, Way.PLAIN, 1, 2));
    return answer;
  }

  private static Call guarded(
      Code code, String reason, boolean replayed, boolean hasRight, Optional<Answer> answer) {
    return guarded(0, code, reason, replayed, hasRight, answer);
  }

  private static Call guarded(
      long start,
      Code code,
      String reason,
      boolean replayed,
      boolean hasRight,
      Optional<Answer> answer) {
    Operation wish = wish(Form.GUARDED, "a");
    Call call = call(Purpose.DUPLICATE, wish, start, start + 10, start + 3_000, code, reason);
    return with(call, replayed, answer, new Session(Manner.ORDINARY, hasRight));
  }

  private static Operation wish(Form form, String payload) {
    return new Operation(ALICE, form, EffectRequest.newBuilder().setPayload(payload).build());
  }

  /** An answer that is recorded, whatever else is wrong with it. */
  private Answer answer(Scope scope, Form form, String payload, UUID value) {
    Effect effect =
        Effect.newBuilder()
            .setUser(scope.user().toString())
            .setKey(scope.key())
            .setForm(form.name())
            .setPayload(payload)
            .setValue(value.toString())
            .build();
    stored.add(new StoredAnswer(ALICE, effect.toByteString()));
    return new Answer(effect.toByteString(), scope, form.name(), payload, value);
  }

  private void committed(Form form, UUID value, long at) {
    effects.add(
        new CommittedEffect(ALICE, "server-0", form, "a", value, true, Way.PLAIN, at - 1, at));
  }

  private void ok(Operation wish, Answer answer) {
    Call call = call(Purpose.WORK, wish, 0, 10, 3_000, Code.OK, "");
    calls.add(with(call, false, Optional.of(answer), Session.ORDINARY));
  }

  private void failed(Purpose purpose, Form form, String payload, Code code, String reason) {
    calls.add(call(purpose, wish(form, payload), 0, 10, 3_000, code, reason));
  }

  private void later(long start, Code code, String reason, Optional<Answer> answer) {
    calls.add(call(start, start + 10, start + 3_000, code, reason, answer));
  }

  private static Call call(
      long start, long end, long deadline, Code code, String reason, Optional<Answer> answer) {
    Form form = answer.map(Answer::form).map(Form::valueOf).orElse(Form.JOINED);
    Call call = call(Purpose.WORK, wish(form, "a"), start, end, deadline, code, reason);
    return with(call, false, answer, Session.ORDINARY);
  }

  /** Returns an ordinary session's call of the first server, without an answer. */
  private static Call call(
      Purpose purpose,
      Operation wish,
      long start,
      long end,
      long deadline,
      Code code,
      String reason) {
    return new Call(
        purpose,
        wish,
        0,
        start,
        end,
        deadline,
        false,
        code,
        reason,
        false,
        Optional.empty(),
        Session.ORDINARY);
  }

  private static Call with(Call call, boolean replayed, Optional<Answer> answer, Session session) {
    return new Call(
        call.purpose(),
        call.operation(),
        call.server(),
        call.start(),
        call.end(),
        call.deadline(),
        false,
        call.code(),
        call.reason(),
        replayed,
        answer,
        session);
  }

  private void unguarded(Form form, UUID value, long at) {
    effects.add(
        new CommittedEffect(ALICE, "server-0", form, "a", value, false, Way.PLAIN, at - 1, at));
  }

  private void fault(FaultKind kind, String detail, long start, long end) {
    faults.add(new Fault(kind, 0, detail, start, end));
  }
}
