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
   * For each answer that a client got, there is exactly one committed effect with the answer's
   * value. With the next two, {@code OkIsWhatRetriesGet}.
   */
  ANSWER_HAS_EFFECT,
  /**
   * Each answer that a client got is recorded, byte for byte, as long as the record has not
   * expired.
   */
  ANSWER_IS_RECORDED,
  /**
   * No two successful answers of one key differ in a byte. Where a failover takes back what was
   * confirmed, this holds for each time line.
   */
  ONE_ANSWER,
  /** A call is answered for its own request and its own method. */
  NO_MISMATCH_ANSWERED,
  /** A call is answered for its own user and its own key. */
  NO_STRANGER_ANSWERED,
  /** A completed record does not change before it expires: {@code RecordStands}. */
  RECORD_STANDS,
  /**
   * What is recorded was done, once, whether a client got the answer or not: with {@link
   * #ONE_ANSWER}, {@code OneSettlement}.
   */
  RECORD_HAS_EFFECT,
  /**
   * An effect that is one commit with its record is not there without it, even where a failover
   * takes back what was confirmed.
   */
  EFFECT_HAS_RECORD,
  /** No call is refused as a reused key if the key was used for one request only. */
  NO_FALSE_REFUSAL,
  /**
   * No handler runs without a claim, except where a procedure fails open, and then only if its
   * server could not connect to the database, or the database could not be written to and had no
   * record of the key.
   */
  NO_UNGUARDED_EFFECT,
  /** No handler runs without a claim beside one of the same process that holds the key. */
  NO_UNGUARDED_EFFECT_BESIDE_A_HOLDER,
  /** A key whose handler failed for good gets the same answer ever after. */
  FAILURE_STANDS,
  /** What is recorded is replayed even if the database is read-only. */
  REPLAYED_WHILE_READ_ONLY,
  /** If a claim is lost, no client gets what the handler answers about it. */
  LOST_CLAIM_IS_REFUSED,
  /** An answer that the database refuses for good is sent ever less often. */
  RECORDING_PAUSES,
  /** Every call ends by its deadline, and is not forgotten until then. */
  CALL_ENDS,
  /** Every call that waits or runs is answered when its server closes. */
  CLOSING_ENDS_CALLS,
  /** No session gets a record, or waits for one, that its own right does not cover. */
  NO_UNENTITLED_ANSWERED,
  /** A session with a right is not refused for the lack of another one's. */
  ENTITLED_IS_ANSWERED,
  /** No client gets the error of a handler that failed because its twin has committed. */
  TWIN_IS_NO_ERROR,
  /**
   * No transaction of a server stays open and idle for longer than a call that nobody waits for any
   * longer, and the lease after it.
   */
  TRANSACTIONS_END,
  /** A connection that goes back to the pool is idle and has no user set. */
  CONNECTION_RETURNED_CLEAN,
  /**
   * Every key is usable a lease after the last fault: {@code AbandonedKeyIsFree}, {@code
   * KeyBecomesFree}.
   */
  KEY_USABLE
}
