package io.github.grpcidempotency.background;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.Level;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * Logs at most one line per subject in ten seconds. The next line contains the number of lines that
 * were left out. A line consists of the message and the first line of the root cause's message.
 * Every occurrence is logged with its stack trace at debug level.
 *
 * <p>Never throws: a failure of the logger must not end the work that it is about. Not for use by
 * services. Use a separate instance for each object that logs, so that the lines of one object do
 * not suppress those of another.
 */
public final class RateLimitedLog {
  private static final Duration INTERVAL = Duration.ofSeconds(10);
  private static final int MAX_SUBJECTS = 1_000;
  private static final int MAX_CAUSES = 50;

  private final Logger logger;
  private final LongSupplier nanoClock;

  @GuardedBy("this")
  private final Map<Subject, Silence> silences = new LinkedHashMap<>(16, 0.75f, true);

  private record Subject(Level level, String name) {}

  private record Silence(long sinceNanos, long leftOut) {}

  RateLimitedLog(Logger logger, LongSupplier nanoClock) {
    this.logger = logger;
    this.nanoClock = nanoClock;
  }

  /** Creates a log that writes to a logger. */
  public static RateLimitedLog of(Logger logger) {
    return new RateLimitedLog(logger, System::nanoTime);
  }

  /**
   * Logs a warning about a temporary problem, such as an outage.
   *
   * @param subject the lines to limit together, such as a procedure and a cause, or a job; a name
   *     from a small set, not an id
   */
  public void warn(String subject, @Nullable Throwable cause, String message) {
    guarded(() -> log(Level.WARN, subject, cause, message));
  }

  /**
   * Logs an error that needs attention, such as a defect.
   *
   * @param subject the lines to limit together, such as a procedure and a cause, or a job; a name
   *     from a small set, not an id
   */
  public void error(String subject, @Nullable Throwable cause, String message) {
    guarded(() -> log(Level.ERROR, subject, cause, message));
  }

  /** Returns whether the logger writes lines of a level. */
  public boolean isEnabled(Level level) {
    try {
      return logger.isEnabledForLevel(level);
    } catch (Throwable broken) {
      return false;
    }
  }

  /**
   * Writes a line with key-value pairs. A line at debug level is not limited. A line of a higher
   * level that is left out is written at debug level instead. The stack trace is written only if
   * debug is enabled.
   *
   * @param subject the lines to limit together, such as a procedure, a decision and its reason
   * @param pairs returns the pairs in their order; called only if the line is written
   */
  public void write(
      Level level,
      String subject,
      @Nullable Throwable cause,
      String message,
      Supplier<Map<String, Object>> pairs) {
    guarded(() -> writePairs(level, subject, cause, message, pairs));
  }

  private void writePairs(
      Level level,
      String subject,
      @Nullable Throwable cause,
      String message,
      Supplier<Map<String, Object>> pairs) {
    OptionalLong leftOut =
        level == Level.DEBUG || !logger.isEnabledForLevel(level)
            ? OptionalLong.empty()
            : leftOutSinceLastLine(new Subject(level, subject));
    if (leftOut.isEmpty() && !logger.isDebugEnabled()) {
      return;
    }
    LoggingEventBuilder line =
        logger.makeLoggingEventBuilder(leftOut.isPresent() ? level : Level.DEBUG);
    for (Map.Entry<String, Object> pair : pairs.get().entrySet()) {
      line = line.addKeyValue(pair.getKey(), pair.getValue());
    }
    if (cause != null && logger.isDebugEnabled()) {
      line = line.setCause(cause);
    }
    line.log(line(message, cause, leftOut.orElse(0)));
  }

  private static void guarded(Runnable line) {
    try {
      line.run();
    } catch (Throwable unwritten) {
      // A second attempt to write would fail as well.
    }
  }

  private void log(Level level, String name, @Nullable Throwable cause, String message) {
    if (logger.isEnabledForLevel(level)) {
      OptionalLong leftOut = leftOutSinceLastLine(new Subject(level, name));
      if (leftOut.isPresent()) {
        logger.makeLoggingEventBuilder(level).log(line(message, cause, leftOut.getAsLong()));
      }
    }
    logger.debug(message, cause);
  }

  /**
   * Returns how many lines were left out since the last line; empty if this line is left out too.
   */
  private synchronized OptionalLong leftOutSinceLastLine(Subject subject) {
    long now = nanoClock.getAsLong();
    Silence silence = silences.get(subject);
    if (silence != null && now - silence.sinceNanos < INTERVAL.toNanos()) {
      silences.put(subject, new Silence(silence.sinceNanos, silence.leftOut + 1));
      return OptionalLong.empty();
    }
    silences.put(subject, new Silence(now, 0));
    if (silences.size() > MAX_SUBJECTS) {
      silences.remove(silences.keySet().iterator().next());
    }
    return OptionalLong.of(silence == null ? 0 : silence.leftOut);
  }

  private static String line(String message, @Nullable Throwable cause, long leftOut) {
    StringBuilder line = new StringBuilder(message);
    if (cause != null) {
      line.append(": ").append(firstLineOf(cause));
    }
    if (leftOut > 0) {
      line.append(" (and ").append(leftOut).append(" more like it)");
    }
    return line.toString();
  }

  /** Returns only the first line, because the database puts keys into the lines that follow. */
  private static String firstLineOf(Throwable failure) {
    Throwable root = failure;
    String sqlState = "";
    Throwable cause = failure;
    for (int depth = 0; cause != null && depth < MAX_CAUSES; depth++) {
      root = cause;
      if (cause instanceof SQLException sql && sql.getSQLState() != null) {
        sqlState = " [SQLSTATE " + sql.getSQLState() + "]";
      }
      cause = cause.getCause();
    }
    String message = root.getMessage() == null ? "" : root.getMessage().strip();
    String firstLine = message.lines().findFirst().orElse(root.getClass().getSimpleName());
    return firstLine + sqlState;
  }
}
