package io.github.grpcidempotency.key;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A call carries a malformed key. The message is for the service's own logs and contains no key.
 * The client gets {@code IDEMPOTENCY_KEY_INVALID}.
 */
public final class MalformedKeyException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final @Nullable String keyName;

  /** Makes the exception with a message that says what is wrong. */
  public MalformedKeyException(String message) {
    this(message, null);
  }

  private MalformedKeyException(String message, @Nullable String keyName) {
    super(message);
    this.keyName = keyName;
  }

  /** Returns the place of the key, if it is more specific than the name of its source. */
  public Optional<String> keyName() {
    return Optional.ofNullable(keyName);
  }

  /** Returns the same exception with a name, unless it has one. */
  MalformedKeyException named(String found) {
    return keyName == null ? new MalformedKeyException(String.valueOf(getMessage()), found) : this;
  }
}
