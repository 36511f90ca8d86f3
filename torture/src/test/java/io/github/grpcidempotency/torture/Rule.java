package io.github.grpcidempotency.torture;

/**
 * What must hold of every history. Where the model of the protocol has the same rule, it is named.
 */
enum Rule {
  /**
   * At most one committed effect for each key whose effect and record are one commit: {@code
   * JoinedEffectAtMostOnce}.
   */
  ONE_EFFECT,
  /**
   * Without such a commit, a second effect needs a crash or an outage that explains it: {@code
   * NoUnexplainedEffect}, {@code OneLiveOwner}.
   */
  NO_UNEXPLAINED_EFFECT,
  /**
   * What a client was told is there: exactly one committed effect with the answer's value. With the
   * next two, {@code OkIsWhatRetriesGet}.
   */
  ANSWER_HAS_EFFECT,
  /** What a client was told is recorded, byte for byte, as long as the record has not expired. */
  ANSWER_IS_RECORDED,
  /** No two successful answers of one key differ in a byte. */
  ONE_ANSWER,
  /** A call is answered for its own request and its own method. */
  NO_MISMATCH_ANSWERED,
  /** A call is answered for its own user and its own key. */
  NO_STRANGER_ANSWERED,
  /** A completed record does not change before it expires: {@code RecordStands}. */
  RECORD_STANDS,
  /**
   * What is on record was done, once, whether a client was told or not: with {@link #ONE_ANSWER},
   * {@code OneSettlement}.
   */
  RECORD_HAS_EFFECT,
  /** Nobody is told that a key was reused who is the only one to use it. */
  NO_FALSE_REFUSAL,
  /**
   * No handler runs without a claim, except where a procedure fails open, and then only if its
   * server could not connect to the database, or the database could not be written to and had no
   * record of the key.
   */
  NO_UNGUARDED_EFFECT,
  /** No handler runs without a claim beside one of the same process that holds the key. */
  NO_UNGUARDED_EFFECT_BESIDE_A_HOLDER,
  /** A key whose handler failed for good is answered alike ever after. */
  FAILURE_STANDS,
  /** What is recorded is replayed from a database that is read-only. */
  REPLAYED_WHILE_READ_ONLY,
  /** No client hears of a lost claim what the handler says of it. */
  LOST_CLAIM_IS_REFUSED,
  /** An answer that the database refuses to record for good is not tried without end. */
  RECORDING_ENDS,
  /** Every call ends by its deadline, and is not forgotten until then. */
  CALL_ENDS,
  /** Every call that waits or runs is answered when its server closes. */
  CLOSING_ENDS_CALLS,
  /**
   * Every key is usable a lease after the last fault: {@code AbandonedKeyIsFree}, {@code
   * KeyBecomesFree}.
   */
  KEY_USABLE
}
