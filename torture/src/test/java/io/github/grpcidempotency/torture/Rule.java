package io.github.grpcidempotency.torture;

/** What must hold of every history. */
enum Rule {
  /** At most one committed effect for each key whose effect and record are one commit. */
  ONE_EFFECT,
  /** Without such a commit, a second effect needs a crash or an outage that explains it. */
  NO_UNEXPLAINED_EFFECT,
  /** What a client was told is there: exactly one committed effect with the answer's value. */
  ANSWER_HAS_EFFECT,
  /** What a client was told is recorded, byte for byte, as long as the record has not expired. */
  ANSWER_IS_RECORDED,
  /** No two successful answers of one key differ in a byte. */
  ONE_ANSWER,
  /** A call is answered for its own request and its own method. */
  NO_MISMATCH_ANSWERED,
  /** A call is answered for its own user and its own key. */
  NO_STRANGER_ANSWERED,
  /** A completed record does not change before it expires. */
  RECORD_STANDS,
  /** Nobody is told that a key was reused who is the only one to use it. */
  NO_FALSE_REFUSAL,
  /** Every call ends by its deadline. */
  CALL_ENDS,
  /** Every key is usable a lease after the last fault. */
  KEY_USABLE
}
