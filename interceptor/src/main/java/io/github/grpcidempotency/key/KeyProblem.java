package io.github.grpcidempotency.key;

/** What is wrong with a key. */
public enum KeyProblem {
  /** There is one, but it is empty. */
  EMPTY,
  /** The call carries more than one. */
  REPEATED,
  /** It is longer than a key may be. */
  TOO_LONG,
  /** It has characters that no key may have. */
  CHARACTERS,
  /** It is not of the procedure's key format. */
  FORMAT,
  /** A source of the service's own says that it is malformed. */
  OTHER
}
