package io.github.grpcidempotency.example.service.organization;

import java.time.Duration;
import java.util.Optional;

/**
 * How long records answer retries, where an operator says otherwise than the procedures do. Asked
 * for every key, so an answer may change at any time. Thread-safe.
 */
@FunctionalInterface
public interface Retentions {
  /**
   * Returns how long the records of a method last; empty for what its procedure says.
   *
   * @param method its bare name, such as {@code CreateProject}
   */
  Optional<Duration> of(String method);
}
