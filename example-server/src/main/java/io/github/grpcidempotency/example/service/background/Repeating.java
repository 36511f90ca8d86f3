package io.github.grpcidempotency.example.service.background;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a task repeatedly, in a separate thread, until it is closed. If a round throws, including an
 * {@link Error}, the failure is logged once until a round succeeds, and the repetition continues.
 */
public final class Repeating implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Repeating.class);
  private static final long STOP_WITHIN_SECONDS = 5;

  /** The task of one round. */
  @FunctionalInterface
  public interface Round {
    void run() throws Exception;
  }

  private final String name;
  private final Round round;
  private final ScheduledExecutorService thread;
  private boolean failing;

  private Repeating(String name, Round round) {
    this.name = name;
    this.round = round;
    this.thread =
        Executors.newSingleThreadScheduledExecutor(
            new ThreadFactoryBuilder().setNameFormat(name).setDaemon(true).build());
  }

  /**
   * Starts the first round.
   *
   * @param name the name of the thread
   * @param pause the pause between two rounds
   */
  public static Repeating start(String name, Duration pause, Round round) {
    Repeating repeating = new Repeating(name, round);
    // No exception leaves a round, so the future is not needed.
    var unused =
        repeating.thread.scheduleWithFixedDelay(
            repeating::runOnce, 0, pause.toMillis(), TimeUnit.MILLISECONDS);
    return repeating;
  }

  private void runOnce() {
    try {
      round.run();
      failing = false;
    } catch (Throwable e) { // the thread must survive
      if (!failing) {
        log.warn("{} failed and will be retried: {}", name, e.toString());
      }
      failing = true;
    }
  }

  /** Stops. Waits until a running round is over. */
  @Override
  public void close() {
    thread.shutdown();
    try {
      boolean unused = thread.awaitTermination(STOP_WITHIN_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
