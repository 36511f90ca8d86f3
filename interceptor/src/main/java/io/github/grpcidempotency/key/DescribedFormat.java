package io.github.grpcidempotency.key;

import java.util.Optional;

/** A format with a description of the keys that it accepts. */
record DescribedFormat(KeyFormat format, String description) implements KeyFormat {
  @Override
  public Optional<String> canonicalize(String raw) {
    return format.canonicalize(raw);
  }
}
