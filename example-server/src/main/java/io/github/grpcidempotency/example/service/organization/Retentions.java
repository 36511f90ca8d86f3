package io.github.grpcidempotency.example.service.organization;

import io.github.grpcidempotency.procedure.RetentionClass;
import io.github.grpcidempotency.procedure.RetentionClasses;
import java.time.Duration;
import java.util.Optional;

/**
 * How long records answer retries, where an operator says otherwise than the procedures do. Asked
 * for every key, so an answer may change at any time. Thread-safe.
 */
@FunctionalInterface
public interface Retentions {
  /** The names that options and files may use: the library's, and one of this service. */
  RetentionClasses CLASSES =
      RetentionClasses.presets().with(new RetentionClass("invitation", Duration.ofDays(7)));

  /**
   * Returns how long the records of a method last; empty for what its procedure says.
   *
   * @param method its bare name, such as {@code CreateProject}
   */
  Optional<Duration> of(String method);
}
