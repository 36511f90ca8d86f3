package io.github.grpcidempotency.key;

import java.util.Optional;

/**
 * A canonical key and its caller, which together identify one operation.
 *
 * @param value the key in the canonical form of its format
 */
public record IdempotencyKey(Caller caller, String value) {
  static final int MAX_CHARACTERS = 512;

  /**
   * Checks the value.
   *
   * @throws IllegalArgumentException if a store cannot keep it: see {@link #problemOf}
   */
  public IdempotencyKey {
    if (problemOf(value).isPresent()) {
      throw new IllegalArgumentException(
          "a key must have 1 to 512 characters, without control characters and unpaired"
              + " surrogates");
    }
  }

  /**
   * Returns why a store cannot keep a key; empty if it can. A key must have 1 to 512 characters,
   * without control characters and unpaired surrogates. Unpaired surrogates have no UTF-8 form, so
   * different keys would be stored as the same text. Applies to every format.
   */
  public static Optional<KeyProblem> problemOf(String value) {
    if (value.isEmpty()) {
      return Optional.of(KeyProblem.EMPTY);
    }
    if (!isShort(value)) {
      return Optional.of(KeyProblem.TOO_LONG);
    }
    return isText(value) ? Optional.empty() : Optional.of(KeyProblem.CHARACTERS);
  }

  /** Returns whether a text has neither control characters nor unpaired surrogates. */
  static boolean isText(String value) {
    return value.codePoints().noneMatch(IdempotencyKey::isUnfit);
  }

  static boolean isShort(String value) {
    return value.length() <= MAX_CHARACTERS;
  }

  private static boolean isUnfit(int character) {
    return Character.isISOControl(character) || Character.getType(character) == Character.SURROGATE;
  }

  /**
   * Returns tenant, project and key as one text, for hashes and for stores that need one name. A
   * NUL character separates them, which none of them contains, so two keys of one user have the
   * same text only if they are equal.
   */
  public String qualified() {
    return caller.tenant().orElse("") + '\0' + caller.project().orElse("") + '\0' + value;
  }

  /** Leaves out the key, because raw keys must not get into logs. */
  @Override
  public String toString() {
    return "IdempotencyKey[withheld]";
  }
}
