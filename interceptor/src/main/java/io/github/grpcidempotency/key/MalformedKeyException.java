package io.github.grpcidempotency.key;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A call carries a malformed key. The message is for the service's own logs and contains no key.
 * The client gets {@code IDEMPOTENCY_KEY_INVALID}.
 */
public final class MalformedKeyException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final KeyProblem problem;
  private final @Nullable String keyName;

  /** Makes the exception with a message that says what is wrong. */
  public MalformedKeyException(String message) {
    this(KeyProblem.OTHER, message);
  }

  /**
   * Makes the exception.
   *
   * @param problem what is wrong, as listeners hear it
   * @param message says what is wrong
   */
  public MalformedKeyException(KeyProblem problem, String message) {
    this(problem, message, null);
  }

  private MalformedKeyException(KeyProblem problem, String message, @Nullable String keyName) {
    super(message);
    this.problem = problem;
    this.keyName = keyName;
  }

  /** Returns what is wrong with the key. */
  public KeyProblem problem() {
    return problem;
  }

  /** Returns the place of the key, if it is more specific than the name of its source. */
  public Optional<String> keyName() {
    return Optional.ofNullable(keyName);
  }

  /** Returns the same exception with a name, unless it has one. */
  MalformedKeyException named(String found) {
    return keyName == null
        ? new MalformedKeyException(problem, String.valueOf(getMessage()), found)
        : this;
  }
}
