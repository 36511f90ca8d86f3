package io.github.grpcidempotency.internal.background;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;

/** Threads that do not keep a JVM alive. Not for use by services. */
public final class DaemonThreads {
  private DaemonThreads() {}

  /** Makes a factory of threads of one name. */
  public static ThreadFactory named(String name) {
    return task -> {
      Thread thread = new Thread(task, name);
      thread.setDaemon(true);
      return thread;
    };
  }

  /**
   * Makes a timer of one thread. What is cancelled leaves nothing of itself there, and what comes
   * after its shutdown is dropped without a word.
   */
  public static ScheduledExecutorService newTimer(String name) {
    ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(1, named(name), new ThreadPoolExecutor.DiscardPolicy());
    timer.setRemoveOnCancelPolicy(true);
    return timer;
  }
}
