package io.github.grpcidempotency.key;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A call has a malformed key. The message is for the service's own logs and contains no key. The
 * client gets {@code IDEMPOTENCY_KEY_INVALID} with the {@link #explanation}.
 */
public final class MalformedKeyException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final KeyProblem problem;
  private final String explanation;
  private final @Nullable String expected;
  private final @Nullable String keyName;
  private final boolean owned;

  public MalformedKeyException(String message) {
    this(KeyProblem.OTHER, message, KeyProblem.OTHER.explanation(), null, null, false);
  }

  private MalformedKeyException(
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

  /** Creates the exception with an explanation for clients, which contains no key. */
  static MalformedKeyException explained(KeyProblem problem, String explanation) {
    return new MalformedKeyException(problem, explanation, explanation, null, null, false);
  }

  static MalformedKeyException ofLength(KeyProblem problem, String key) {
    return explained(problem, "it has %d characters".formatted(key.length()));
  }

  static MalformedKeyException of(KeyProblem problem, String key) {
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
  MalformedKeyException ownedBy(Optional<Caller> caller) {
    return with(expected, keyName, owned || caller.isPresent());
  }

  /** Returns the same exception with a name, unless it already has a name. */
  MalformedKeyException named(String found) {
    return keyName == null ? with(expected, found, owned) : this;
  }

  /** Returns the same exception with the expected format, unless it already has one. */
  MalformedKeyException expecting(String description) {
    return expected == null ? with(description, keyName, owned) : this;
  }

  private MalformedKeyException with(
      @Nullable String description, @Nullable String name, boolean known) {
    return new MalformedKeyException(
        problem, String.valueOf(getMessage()), explanation, description, name, known);
  }
}
