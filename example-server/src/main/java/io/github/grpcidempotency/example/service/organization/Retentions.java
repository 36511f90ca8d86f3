package io.github.grpcidempotency.example.service.organization;

import io.github.grpcidempotency.procedure.RetentionClass;
import io.github.grpcidempotency.procedure.RetentionClasses;
import java.time.Duration;
import java.util.Optional;

/**
 * How long records answer retries, if an operator overrides the procedures. Called for every key,
 * so the values may change at any time. Thread-safe.
 */
@FunctionalInterface
public interface Retentions {
  /** The names that options and files may use: the library's, and one of this service. */
  RetentionClasses CLASSES =
      RetentionClasses.presets().with(new RetentionClass("invitation", Duration.ofDays(7)));

  /**
   * Returns how long the records of a method last; empty to use the procedure's setting.
   *
   * @param method its bare name, such as {@code CreateProject}
   */
  Optional<Duration> of(String method);
}
