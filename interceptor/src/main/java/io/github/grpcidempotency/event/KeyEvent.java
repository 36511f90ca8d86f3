package io.github.grpcidempotency.event;

import io.github.grpcidempotency.key.KeyProblem;
import java.util.Optional;

/** What a key source has found. */
public interface KeyEvent extends CallEvent {
  /**
   * Returns where the key was found, or the one source that failed, as in error messages: a header,
   * a field, a provider's event.
   */
  String source();

  /** Returns the mistake of a malformed key, or why the source failed. */
  Optional<KeyProblem> problem();
}
