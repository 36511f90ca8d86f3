package io.github.grpcidempotency.internal.background;

import io.github.grpcidempotency.internal.log.RateLimitedLog;

/**
 * A task that is run again and again, and that no exception ends: whatever a run throws, even an
 * {@link Error}, is logged, and the next run follows. A bare executor drops a task for good once it
 * has thrown. Thread-safe if the task is. Not for use by services.
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
   * Makes a repeated task.
   *
   * @param name what the task does, as it follows "could not" in the log
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
      // If even logging fails, for lack of memory for instance, the next run matters more.
    }
  }
}
