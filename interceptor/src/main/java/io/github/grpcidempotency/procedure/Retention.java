package io.github.grpcidempotency.procedure;

import io.github.grpcidempotency.procedure.internal.ServiceFunction;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The setting for how long records answer retries. It is read for every key. If it becomes invalid
 * while the server runs, the last valid value stays in force. Thread-safe.
 */
final class Retention {
  /** How long records answer if nothing is set. */
  static final Duration DEFAULT = Duration.ofHours(24);

  private static final Logger logger = LoggerFactory.getLogger(Procedure.class);
  private static final Duration MIN_RETENTION = Duration.ofMillis(1);
  static final Duration MOST = Duration.ofDays(36_500);

  private final Supplier<Duration> setting;
  private volatile Optional<Duration> lastGood = Optional.empty();
  private volatile boolean bad;

  Retention(Supplier<Duration> setting) {
    this.setting = setting;
  }

  /** Returns the problem of a retention; empty if it is valid. */
  static Optional<String> problem(Duration retention) {
    if (retention.compareTo(MIN_RETENTION) < 0) {
      return Optional.of("its retention must be at least a millisecond, not " + retention);
    }
    return retention.compareTo(MOST) > 0
        ? Optional.of("its retention must be at most 36500 days, not " + retention)
        : Optional.empty();
  }

  /**
   * Returns the current setting, or the last valid one. The result is invalid only if no setting
   * was ever valid.
   */
  Duration current() {
    return ServiceFunction.call(
        () ->
            checked(
                Objects.requireNonNull(
                    setting.get(), "the supplier of its retention returned null")),
        failed -> lastGood(String.valueOf(failed)).orElseThrow(() -> neverGood(failed)));
  }

  private static IllegalStateException neverGood(Throwable failed) {
    return new IllegalStateException("its retention cannot be read: " + failed, failed);
  }

  private Duration checked(Duration retention) {
    Optional<String> problem = problem(retention);
    if (problem.isPresent()) {
      return lastGood(problem.get()).orElse(retention);
    }
    lastGood = Optional.of(retention);
    bad = false;
    return retention;
  }

  /** Returns the last valid setting. Logs the problem once, when the setting becomes invalid. */
  private Optional<Duration> lastGood(String problem) {
    Optional<Duration> good = lastGood;
    if (good.isPresent() && !bad) {
      bad = true;
      logger.error(
          "a retention setting is invalid; the last valid value, {}, stays in force: {}",
          good.get(),
          problem);
    }
    return good;
  }
}
