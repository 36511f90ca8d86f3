package io.github.grpcidempotency.key;

import java.util.Locale;

/** What is wrong with a key. */
public enum KeyProblem {
  /** There is one, but it is empty. */
  EMPTY("it is empty"),
  /** The call carries more than one. */
  REPEATED("it has more than one value"),
  /** It is longer than a key may be. */
  TOO_LONG("it has more than 512 characters"),
  /** It has characters that no key may have. */
  CHARACTERS("it has characters that no key may have"),
  /** It is not of the procedure's key format. */
  FORMAT("it is not in the format of this method's keys"),
  /** A source of the service's own says that it is malformed. */
  OTHER("it is not a valid key of this method");

  private final String explanation;

  KeyProblem(String explanation) {
    this.explanation = explanation;
  }

  /** Returns the problem as a sentence about the key. */
  public String explanation() {
    return explanation;
  }

  /** Returns the problem as a word, as clients get it in the error's metadata. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
