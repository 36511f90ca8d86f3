package io.github.grpcidempotency.key;

/** The kind of problem of a malformed key. */
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
  OTHER("it is not a valid key of this method");

  private final String explanation;

  KeyProblem(String explanation) {
    this.explanation = explanation;
  }

  /** Returns the problem as a sentence that begins with "it", for the key. */
  public String explanation() {
    return explanation;
  }
}
