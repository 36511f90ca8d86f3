package io.github.grpcidempotency.key;

/** Why a call has no usable key: the key is malformed, or its source gave none. */
public enum KeyProblem {
  /** The key is empty. */
  EMPTY("it is empty"),
  /** The call has more than one key. */
  REPEATED("it has more than one value"),
  /** The key is too long. */
  TOO_LONG("it has more than 512 characters"),
  /** The key has characters that no key may have. */
  CHARACTERS("it has characters that no key may have"),
  /** The key does not have the procedure's key format. */
  FORMAT("it is not in the format of this method's keys"),
  /** A key source of the service reports that the key is malformed. */
  OTHER("it is not a valid key of this method"),
  /** The sender cannot prove that the key is theirs, for example because its signature is wrong. */
  UNAUTHENTICATED("the sender cannot prove that it is theirs"),
  /** The key's source could not read the data that it needs. */
  UNAVAILABLE("it could not be looked up"),
  /** The key's source, or the caller resolver, threw an unexpected exception. */
  DEFECT("it could not be looked up");

  private final String explanation;

  KeyProblem(String explanation) {
    this.explanation = explanation;
  }

  /** Returns the problem as a sentence in which "it" is the key. */
  public String explanation() {
    return explanation;
  }
}
