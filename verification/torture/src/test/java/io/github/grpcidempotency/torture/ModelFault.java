package io.github.grpcidempotency.torture;

import java.util.List;

/**
 * Rules of the protocol that are removed from a model, each with the rules that then do not hold.
 */
enum ModelFault {
  OWN_ROW_TAKEN_UNSEEN(
      reservation().with("MaxLate", "0").with("Crashes", "FALSE"),
      "an own row is ours only while it is untouched",
      "FenceIsUnique",
      "OneSettlement",
      "OkIsWhatRetriesGet"),
  ID_SENT_AGAIN(
      reservation()
          .with("Calls", "{c1, c2, c3}")
          .with("Forms", "{\"separate\"}")
          .with("MaxLost", "2")
          .with("MaxLate", "0")
          .with("Crashes", "FALSE"),
      "an id is inserted by one flush only",
      "FenceIsUnique"),
  TAKEOVER_OF_THE_LIVING(reservation(), "takeover waits for the end of the lease", "OneLiveOwner"),
  SAME_ATTEMPT(reservation(), "takeover raises the attempt", "OneSettlement"),
  ENDLESS_LEASE(reservation(), "what is abandoned is taken over", "AbandonedKeyIsFree"),
  COMPLETION_BY_ID(reservation(), "completion names the attempt", "OneSettlement"),
  NO_FENCE(reservation(), "completion is fenced", "RecordStands", "JoinedEffectAtMostOnce"),
  IGNORED_FENCE(
      reservation(),
      "a joined completion that finds the claim lost rolls back",
      "JoinedEffectAtMostOnce"),
  RELEASE_BY_ID(
      reservation().with("Calls", "{c1, c2, c3}").with("MaxLost", "0").with("MaxLate", "0"),
      "release names the attempt",
      "OneLiveOwner"),
  RELEASE_AFTER_UNKNOWN_COMMIT(
      reservation(), "release leaves records alone", "RecordStands", "JoinedEffectAtMostOnce"),
  LATE_RECORDER_RELEASES(reservation(), "late recording never releases", "NoUnexplainedEffect"),
  ZOMBIE_ANSWERS(
      reservation(), "an owner that lost the claim does not answer", "OkIsWhatRetriesGet"),
  ANSWER_BEFORE_RECORD(
      reservation(), "the answer is recorded before it is sent", "OkIsWhatRetriesGet"),
  EXPIRED_AT_ONCE(reservation(), "only what has expired is replaced", "RecordStands"),
  GREEDY_SWEEP(reservation(), "only what has expired is swept", "RecordStands", "OneLiveOwner"),
  RENEWED_FOR_EVER(
      reservation().with("MaxLate", "0"), "an ended call is renewed no more", "KeyBecomesFree"),
  RENEWAL_BY_ID(reservation().with("MaxLate", "0"), "renewal names the attempt", "KeyBecomesFree"),

  NO_UNIQUE_KEY(transaction(), "the key is unique", "JoinedEffectAtMostOnce"),
  NO_LOCK(transaction(), "the lock excludes", "NoRunBesideRecord"),
  LOOK_BEFORE_LOCK(transaction(), "the look comes after the lock", "NoRunBesideRecord"),
  EFFECT_WITHOUT_RECORD(
      transaction(), "effect and record are one commit", "JoinedEffectAtMostOnce"),
  UNKNOWN_COMMIT_ANSWERED(
      transaction(), "a commit that was not answered is not told", "OkIsWhatRetriesGet"),
  LIVING_RESERVATION_CLEARED(
      transaction(), "only what is over is cleared", "LivingReservationStands"),
  LOCK_KEPT(
      transaction(), "a transaction's end frees its lock", "AbandonedKeyIsFree", "KeyBecomesFree"),
  COMMIT_BESIDE_THE_LOCK(
      transaction(), "a record claims its key behind the lock", "NoRunBesideRecord"),
  ERROR_WITHOUT_LOOK_UP(transaction(), "an error is answered after a look-up", "TwinIsNoError"),
  FAILED_LOOK_UP_ANSWERED(transaction(), "whose look-up fails is dropped", "TwinIsNoError"),
  FAILURE_OVER_A_RECORD(
      transaction(), "an error is recorded only where nothing stands", "RecordStands"),
  FAILURE_TOLD_UNRECORDED(
      transaction(), "an error that is not recorded is not told", "FailureIsWhatRetriesGet"),
  DROPPED_ANSWER_SENT(
      transaction(),
      "what a dropped run answers is dropped",
      "OkIsWhatRetriesGet",
      "FailureIsWhatRetriesGet",
      "TwinIsNoError",
      "DroppedLeavesNothing"),
  DROPPED_RUN_COMMITTED(
      transaction(),
      "a dropped run is rolled back",
      "JoinedEffectAtMostOnce",
      "DroppedLeavesNothing");

  @SuppressWarnings("ImmutableEnumChecker") // it is
  private final ModelCheck check;

  private final String rule;

  @SuppressWarnings("ImmutableEnumChecker") // an immutable list of strings
  private final List<String> violated;

  /**
   * Makes a fault.
   *
   * @param check the bound within which the fault is found
   * @param rule the rule that is removed from the protocol
   * @param violated the rules that then do not hold
   */
  ModelFault(ModelCheck check, String rule, String... violated) {
    this.check = check;
    this.rule = rule;
    this.violated = List.of(violated);
  }

  List<String> violated() {
    return violated;
  }

  ModelCheck check() {
    return check.without(rule);
  }

  private static ModelCheck reservation() {
    return ModelCheck.of("Reservation");
  }

  private static ModelCheck transaction() {
    return ModelCheck.of("Transaction");
  }
}
