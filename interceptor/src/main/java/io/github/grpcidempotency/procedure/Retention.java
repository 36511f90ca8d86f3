package io.github.grpcidempotency.procedure;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How long records answer retries, asked anew for every key. A setting that turns bad while the
 * server runs must not stop it, nor make keys worthless: the last good one then stays in force.
 * Thread-safe.
 */
final class Retention {
  private static final Logger logger = LoggerFactory.getLogger(Procedure.class);
  private static final Duration MIN_RETENTION = Duration.ofMillis(1);
  private static final Duration MOST = Duration.ofDays(36_500);

  private final Supplier<Duration> setting;
  private volatile Optional<Duration> lastGood = Optional.empty();
  private volatile boolean bad;

  Retention(Supplier<Duration> setting) {
    this.setting = setting;
  }

  /** Returns what is wrong with a retention; empty if nothing is. */
  static Optional<String> problem(Duration retention) {
    if (retention.compareTo(MIN_RETENTION) < 0) {
      return Optional.of(
          "its retention must be positive, it is %s".formatted(retention)
              + (retention.isNegative() || retention.isZero() ? "" : ", less than a millisecond"));
    }
    return retention.compareTo(MOST) > 0
        ? Optional.of("its retention must be 36500 days at most, it is " + retention)
        : Optional.empty();
  }

  /** Returns the setting of the moment. It is only bad if it never was good. */
  Duration current() {
    try {
      return checked(setting.get());
    } catch (RuntimeException failed) {
      return lastGood(String.valueOf(failed)).orElseThrow(() -> failed);
    }
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

  /** Tells of a bad setting when it turns bad, not with every call. */
  private Optional<Duration> lastGood(String problem) {
    Optional<Duration> good = lastGood;
    if (good.isPresent() && !bad) {
      bad = true;
      logger.error("a retention is kept at {}: {}", good.get(), problem);
    }
    return good;
  }
}
