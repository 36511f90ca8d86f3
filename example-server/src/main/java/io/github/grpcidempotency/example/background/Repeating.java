package io.github.grpcidempotency.example.background;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does something again and again, in a thread of its own, until it is closed. Whatever it throws,
 * an {@link Error} included, is logged once until it works again, and does not end it.
 */
public final class Repeating implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Repeating.class);
  private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);
  private static final Duration STOP_WITHIN = Duration.ofSeconds(5);

  /** What is done each time. */
  @FunctionalInterface
  public interface Round {
    /** Returns how long to rest until the next one. */
    Duration run() throws Exception;
  }

  private final Round round;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread thread;
  private boolean failing;

  private Repeating(String name, Round round) {
    this.round = round;
    this.thread = new Thread(this::runUntilClosed, name);
  }

  /**
   * Starts with the first round.
   *
   * @param name of the thread
   */
  public static Repeating start(String name, Round round) {
    Repeating repeating = new Repeating(name, round);
    repeating.thread.setDaemon(true);
    repeating.thread.start();
    return repeating;
  }

  private void runUntilClosed() {
    try {
      Duration pause = Duration.ZERO;
      while (!closed.await(pause.toMillis(), TimeUnit.MILLISECONDS)) {
        pause = runOnce();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Duration runOnce() throws InterruptedException {
    try {
      Duration pause = round.run();
      failing = false;
      return pause;
    } catch (InterruptedException e) {
      throw e;
    } catch (Throwable e) { // the thread is all there is to go on
      if (!failing) {
        log.warn("{} failed and will be tried again: {}", thread.getName(), e.toString());
      }
      failing = true;
      return PAUSE_AFTER_FAILURE;
    }
  }

  /** Stops once a round that has begun is over. */
  @Override
  public void close() {
    closed.countDown();
    try {
      thread.join(STOP_WITHIN.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
