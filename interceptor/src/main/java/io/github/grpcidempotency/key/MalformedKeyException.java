package io.github.grpcidempotency.key;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A key is there and is not as it should be. The message is for logs of the service's own and
 * carries no key; the client is told {@code IDEMPOTENCY_KEY_INVALID}.
 */
public final class MalformedKeyException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final @Nullable String keyName;

  /** Makes the exception with what is wrong. */
  public MalformedKeyException(String message) {
    this(message, null);
  }

  private MalformedKeyException(String message, @Nullable String keyName) {
    super(message);
    this.keyName = keyName;
  }

  /** Returns where the key was found, if that is narrower than its source. */
  public Optional<String> keyName() {
    return Optional.ofNullable(keyName);
  }

  /** Returns the same with a name, unless it has one. */
  MalformedKeyException named(String found) {
    return keyName == null ? new MalformedKeyException(String.valueOf(getMessage()), found) : this;
  }
}
