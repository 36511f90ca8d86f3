package io.github.grpcidempotency.background;

import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A task for periodic execution that no exception ends. Everything that a run throws, even an
 * {@link Error}, is logged, and the next run takes place. An executor alone would never run a task
 * again after an exception. All repeated work of the library is a repeated task: a test of the
 * build rejects every other way to repeat work.
 *
 * <p>Thread-safe if the task is. Not for use by services.
 */
public final class RepeatedTask implements Runnable {
  private final String name;
  private final RateLimitedLog log;
  private final Task task;

  /** The work of one run. */
  @FunctionalInterface
  public interface Task {
    /** Runs once. */
    void run() throws Exception;
  }

  private RepeatedTask(String name, RateLimitedLog log, Task task) {
    this.name = name;
    this.log = log;
    this.task = task;
  }

  /**
   * Creates a repeated task.
   *
   * @param name what the task does; the log says "could not " followed by this name
   */
  public static RepeatedTask of(String name, RateLimitedLog log, Task task) {
    return new RepeatedTask(name, log, task);
  }

  /**
   * Runs on a timer until the timer is shut down. A run that the shutdown interrupts is not logged.
   *
   * @param first the time until the first run
   * @param pause the pause between two runs
   */
  public void every(ScheduledExecutorService timer, Duration first, Duration pause) {
    ScheduledFuture<?> unused = start(timer, first, pause);
  }

  /** Like {@link #every}; cancelling the result ends the repetition. */
  ScheduledFuture<?> start(ScheduledExecutorService timer, Duration first, Duration pause) {
    return timer.scheduleWithFixedDelay(
        () -> succeeds(timer::isShutdown),
        TimeUnit.NANOSECONDS.convert(first),
        Math.max(1, TimeUnit.NANOSECONDS.convert(pause)),
        TimeUnit.NANOSECONDS);
  }

  /** Returns a task that also does something else after each run, whatever the run throws. */
  RepeatedTask then(Task next) {
    return of(
        name,
        log,
        () -> {
          try {
            task.run();
          } finally {
            next.run();
          }
        });
  }

  @Override
  public void run() {
    succeeds();
  }

  /** Runs once, and returns whether the run threw nothing. */
  public boolean succeeds() {
    return succeeds(() -> false);
  }

  private boolean succeeds(BooleanSupplier stopped) {
    try {
      task.run();
      return true;
    } catch (Throwable thrown) {
      if (!stopped.getAsBoolean()) {
        report(thrown);
      }
      return false;
    }
  }

  private void report(Throwable thrown) {
    String message = "could not " + name + "; trying again";
    if (thrown instanceof Exception) {
      log.warn(name, thrown, message);
    } else {
      log.error(name, thrown, message);
    }
  }
}
