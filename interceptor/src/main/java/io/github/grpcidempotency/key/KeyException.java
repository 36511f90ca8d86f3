package io.github.grpcidempotency.key;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A call has a key that cannot be used. The message is for the service's own logs. */
public final class KeyException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final KeyProblem problem;
  private final String explanation;
  private final @Nullable String expected;
  private final @Nullable String keyName;
  private final boolean owned;

  private KeyException(
      KeyProblem problem,
      String message,
      String explanation,
      @Nullable String expected,
      @Nullable String keyName,
      boolean owned) {
    super(message);
    this.problem = problem;
    this.explanation = explanation;
    this.expected = expected;
    this.keyName = keyName;
    this.owned = owned;
  }

  /**
   * Returns the exception for a malformed key. The client gets {@code IDEMPOTENCY_KEY_INVALID} with
   * the {@link #explanation}.
   *
   * @param message for the service's own logs; contains no key
   */
  public static KeyException malformed(String message) {
    return of(KeyProblem.OTHER, message);
  }

  /**
   * Returns the exception for a caller who cannot prove that a key is theirs, for instance because
   * the signature of a webhook is wrong or the webhook is unknown. The client gets {@code
   * IDEMPOTENCY_CALLER_REQUIRED} without the reason.
   *
   * @param message for the service's own logs; contains no key
   */
  public static KeyException unauthenticated(String message) {
    return of(KeyProblem.UNAUTHENTICATED, message);
  }

  private static KeyException of(KeyProblem problem, String message) {
    return new KeyException(problem, message, problem.explanation(), null, null, false);
  }

  /** Creates the exception with an explanation for clients, which contains no key. */
  static KeyException explained(KeyProblem problem, String explanation) {
    return new KeyException(problem, explanation, explanation, null, null, false);
  }

  static KeyException ofLength(KeyProblem problem, String key) {
    return explained(problem, "it has %d characters".formatted(key.length()));
  }

  static KeyException ofText(KeyProblem problem, String key) {
    return problem == KeyProblem.TOO_LONG
        ? ofLength(problem, key)
        : explained(problem, problem.explanation());
  }

  public KeyProblem problem() {
    return problem;
  }

  /** Returns the explanation for clients: the problem, and the expected format if it is known. */
  public String explanation() {
    return expected == null ? explanation : explanation + "; expected " + expected;
  }

  /** Returns the place of the key, if it is more specific than the name of its source. */
  public Optional<String> keyName() {
    return Optional.ofNullable(keyName);
  }

  /** Returns whether the key's source has found the caller of the key. */
  public boolean isOwned() {
    return owned;
  }

  /** Returns the same exception for a key whose caller the source may have found. */
  KeyException ownedBy(Optional<Caller> caller) {
    return with(expected, keyName, owned || caller.isPresent());
  }

  /** Returns the same exception with a name, unless it already has a name. */
  KeyException named(String found) {
    return keyName == null ? with(expected, found, owned) : this;
  }

  /** Returns the same exception with the expected format, unless it already has one. */
  KeyException expecting(String description) {
    return expected == null ? with(description, keyName, owned) : this;
  }

  private KeyException with(@Nullable String description, @Nullable String name, boolean known) {
    return new KeyException(
        problem, String.valueOf(getMessage()), explanation, description, name, known);
  }
}
