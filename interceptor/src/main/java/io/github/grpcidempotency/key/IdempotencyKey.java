package io.github.grpcidempotency.key;

/**
 * A canonical key within its caller's scope: the identity of one operation.
 *
 * @param caller whose key it is
 * @param value the key in its format's canonical spelling
 */
public record IdempotencyKey(Caller caller, String value) {
  private static final int MAX_CHARACTERS = 512;

  /**
   * Checks the value.
   *
   * @throws IllegalArgumentException if it is not {@linkplain #isKey usable as a key}
   */
  public IdempotencyKey {
    if (!isKey(value)) {
      throw new IllegalArgumentException(
          "a key is 1 to 512 whole characters, none of them a control character");
    }
  }

  /**
   * Returns whether a store can keep a key, whatever its format allows: it is 1 to 512 characters,
   * none of them a control character, nor half of one. Half a character (an unpaired surrogate) has
   * no UTF-8: two keys with different halves would be stored as one.
   */
  public static boolean isKey(String value) {
    return !value.isEmpty()
        && value.length() <= MAX_CHARACTERS
        && value.codePoints().noneMatch(IdempotencyKey::isUnfit);
  }

  private static boolean isUnfit(int character) {
    return Character.isISOControl(character) || Character.getType(character) == Character.SURROGATE;
  }

  /**
   * Returns the key as it is stored beside the user's id: the namespace stands in front of the
   * first colon. A namespace contains no colon, so two scopes never share a spelling.
   */
  public String stored() {
    return caller.namespace().isEmpty() && value.indexOf(':') < 0
        ? value
        : caller.namespace() + ":" + value;
  }

  /** Says nothing of the key: raw keys stay out of logs. */
  @Override
  public String toString() {
    return "IdempotencyKey[withheld]";
  }
}
