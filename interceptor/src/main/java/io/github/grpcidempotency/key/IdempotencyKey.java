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
    for (int i = 0; i < value.length(); i = value.offsetByCodePoints(i, 1)) {
      if (isUnfit(value.codePointAt(i))) {
        return Optional.of(KeyProblem.CHARACTERS);
      }
    }
    return Optional.empty();
  }

  static boolean isShort(String value) {
    return value.length() <= MAX_CHARACTERS;
  }

  private static boolean isUnfit(int character) {
    return Character.isISOControl(character) || Character.getType(character) == Character.SURROGATE;
  }

  /**
   * Returns the key in the form in which it is stored with the user's id: the namespace, a colon
   * and the key; or only the key if it contains no colon and the namespace is empty. A namespace
   * contains no colon, so keys of different namespaces are never stored as the same text.
   */
  public String stored() {
    return caller.namespace().isEmpty() && value.indexOf(':') < 0
        ? value
        : caller.namespace() + ":" + value;
  }

  /**
   * Returns the key whose {@linkplain #stored stored} form is this text.
   *
   * @throws IllegalArgumentException if the text belongs to another namespace than the caller's
   */
  public static IdempotencyKey ofStored(Caller caller, String stored) {
    int colon = stored.indexOf(':');
    String namespace = colon < 0 ? "" : stored.substring(0, colon);
    if (!namespace.equals(caller.namespace())) {
      throw new IllegalArgumentException("the stored key belongs to another namespace");
    }
    return new IdempotencyKey(caller, stored.substring(colon + 1));
  }

  /** Leaves out the key, because raw keys must not get into logs. */
  @Override
  public String toString() {
    return "IdempotencyKey[withheld]";
  }
}
