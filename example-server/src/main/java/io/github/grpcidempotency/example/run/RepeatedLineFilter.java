package io.github.grpcidempotency.example.run;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;

/**
 * Leaves out warnings and errors that repeat: of one message of one logger, a few in ten seconds
 * pass. Otherwise every call that fails during an outage would write a line or a stack trace. The
 * message is compared without its parameters. {@code logback.xml} uses this class.
 */
public final class RepeatedLineFilter extends TurboFilter {
  private static final long INTERVAL_NANOS = Duration.ofSeconds(10).toNanos();
  private static final int MOST_IN_INTERVAL = 3;
  private static final int MOST_MESSAGES = 500;

  private final Map<String, Window> windows = new LinkedHashMap<>(16, 0.75f, true);

  private record Window(long sinceNanos, int lines) {}

  @Override
  public FilterReply decide(
      @Nullable Marker marker,
      Logger logger,
      Level level,
      @Nullable String format,
      Object @Nullable [] parameters,
      @Nullable Throwable failure) {
    return format != null
            && level.isGreaterOrEqual(Level.WARN)
            && lineOfWindow(logger.getName() + " " + format) > MOST_IN_INTERVAL
        ? FilterReply.DENY
        : FilterReply.NEUTRAL;
  }

  private synchronized int lineOfWindow(String message) {
    long now = System.nanoTime();
    Window window = windows.get(message);
    if (window == null || now - window.sinceNanos() >= INTERVAL_NANOS) {
      window = new Window(now, 0);
    }
    window = new Window(window.sinceNanos(), window.lines() + 1);
    windows.put(message, window);
    if (windows.size() > MOST_MESSAGES) {
      windows.remove(windows.keySet().iterator().next());
    }
    return window.lines();
  }
}
