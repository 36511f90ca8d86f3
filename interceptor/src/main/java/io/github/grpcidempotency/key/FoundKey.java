package io.github.grpcidempotency.key;

import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A key that a source has found. Every key is one that a store can keep.
 *
 * @param caller the caller that the source itself has found, such as the principal of a webhook;
 *     empty for the authenticated caller of the call
 * @param name the place of the key for error messages; empty for the name of the source
 */
public record FoundKey(String value, Optional<Caller> caller, Optional<String> name) {
  /**
   * Checks the value.
   *
   * @throws KeyException if it is not {@linkplain IdempotencyKey#problemOf usable as a key}
   */
  public FoundKey {
    Optional<KeyProblem> problem = IdempotencyKey.problemOf(value);
    if (problem.isPresent()) {
      throw KeyException.ofText(problem.get(), value).ownedBy(caller);
    }
  }

  /** Returns a key of the authenticated caller. */
  public static FoundKey of(String value) {
    return new FoundKey(value, Optional.empty(), Optional.empty());
  }

  /** Returns a key of the caller that the source itself has found. */
  public static FoundKey of(String value, Caller caller) {
    return new FoundKey(value, Optional.of(caller), Optional.empty());
  }

  /** Returns the same key with its value converted. */
  FoundKey spelled(UnaryOperator<String> spelling) {
    try {
      return new FoundKey(spelling.apply(value), caller, name);
    } catch (KeyException malformed) {
      throw malformed.ownedBy(caller);
    }
  }

  /** Returns the same key with a name, unless it already has a name. */
  FoundKey named(String found) {
    return new FoundKey(value, caller, name.or(() -> Optional.of(found)));
  }

  /** Leaves out the key, because raw keys must not get into logs. */
  @Override
  public String toString() {
    return "FoundKey[withheld]";
  }
}
