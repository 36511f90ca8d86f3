package io.github.grpcidempotency.store.support;

/**
 * A task for periodic execution that survives its exceptions. Everything that a run throws, even an
 * {@link Error}, is logged. Without this wrapper, an executor would never run a task again after an
 * exception. Thread-safe if the task is. Not for use by services.
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

  @Override
  public void run() {
    boolean unused = succeeds();
  }

  /** Runs once, and returns whether the run threw nothing. */
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
    } catch (Throwable unlogged) {
      // Logging can fail too, for example for lack of memory. The next run must still take place.
    }
  }
}
