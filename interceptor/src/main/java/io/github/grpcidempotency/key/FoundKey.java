package io.github.grpcidempotency.key;

import java.util.Optional;

/**
 * A key as a source found it.
 *
 * @param value the canonical key
 * @param caller whose key it is, where the source knows better than authentication: a webhook's
 *     principal; empty for the caller of the call
 * @param name where it was found, as errors name it; empty for the name of the source
 */
public record FoundKey(String value, Optional<Caller> caller, Optional<String> name) {
  /** Makes a key that is named as its source is. */
  public FoundKey(String value, Optional<Caller> caller) {
    this(value, caller, Optional.empty());
  }

  /** Returns a key of the call's own caller. */
  public static FoundKey of(String value) {
    return new FoundKey(value, Optional.empty());
  }

  /** Returns the same key with another value. */
  FoundKey with(String other) {
    return new FoundKey(other, caller, name);
  }

  /** Returns the same key with a name, unless it has one. */
  FoundKey named(String found) {
    return new FoundKey(value, caller, name.or(() -> Optional.of(found)));
  }

  /** Says nothing of the key: raw keys stay out of logs. */
  @Override
  public String toString() {
    return "FoundKey[withheld]";
  }
}
