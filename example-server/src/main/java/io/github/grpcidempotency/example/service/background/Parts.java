package io.github.grpcidempotency.example.service.background;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Parts that were started, to be stopped in reverse order. Thread-safe: closing waits for a part
 * that is being started, so that nothing is left running.
 */
public final class Parts implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Parts.class);

  private final Deque<AutoCloseable> started = new ArrayDeque<>();
  private boolean closed;

  /** Returns an empty collection, which is closed on Ctrl-C and SIGTERM at the latest. */
  public static Parts closedOnShutdown() {
    Parts parts = new Parts();
    Runtime.getRuntime().addShutdownHook(new Thread(parts::close, "shutdown"));
    return parts;
  }

  /**
   * Starts one part.
   *
   * @throws IllegalStateException if the parts are closed already
   */
  public synchronized <T extends AutoCloseable> T start(Supplier<T> start) {
    if (closed) {
      throw new IllegalStateException("closed already");
    }
    T part = start.get();
    started.push(part);
    return part;
  }

  @Override
  public synchronized void close() {
    closed = true;
    while (!started.isEmpty()) {
      AutoCloseable part = started.pop();
      try {
        part.close();
      } catch (Exception e) {
        log.warn("{} did not stop cleanly", part, e);
      }
    }
  }
}
