package io.github.grpcidempotency.internal.background;

import io.github.grpcidempotency.internal.log.RateLimitedLog;

/**
 * A task that is run again and again, and that nothing ends: whatever a run throws, an {@link
 * Error} even, is logged, and the next run comes. Without it an executor drops a task that has
 * thrown once, for the life of the process. Thread-safe if the task is. Not for use by services.
 */
public final class RepeatedTask implements Runnable {
  private final String name;
  private final RateLimitedLog log;
  private final Task task;

  /** What is run. */
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
   * Names a task.
   *
   * @param name what it does, to follow "could not"
   */
  public static RepeatedTask of(String name, RateLimitedLog log, Task task) {
    return new RepeatedTask(name, log, task);
  }

  @Override
  public void run() {
    boolean unused = succeeds();
  }

  /** Runs once, and returns whether nothing was thrown. */
  public boolean succeeds() {
    try {
      task.run();
      return true;
    } catch (Throwable thrown) {
      notify(thrown);
      return false;
    }
  }

  private void notify(Throwable thrown) {
    String message = "could not " + name + "; trying again";
    try {
      if (thrown instanceof Exception) {
        log.warn(name, thrown, message);
      } else {
        log.error(name, thrown, message);
      }
    } catch (Throwable untold) {
      // Where even a log fails, as without memory, the next run matters more than this line.
    }
  }
}
