package io.github.grpcidempotency.key;

import java.util.Optional;

/** A format that tells clients what it expects. */
record DescribedFormat(KeyFormat format, String description) implements KeyFormat {
  @Override
  public Optional<String> canonicalize(String raw) {
    return format.canonicalize(raw);
  }
}
