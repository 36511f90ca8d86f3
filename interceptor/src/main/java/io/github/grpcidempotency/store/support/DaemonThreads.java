package io.github.grpcidempotency.store.support;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;

/** Threads that do not keep a JVM alive. Not for use by services. */
public final class DaemonThreads {
  private DaemonThreads() {}

  /** Returns a factory of threads that share a name. */
  public static ThreadFactory named(String name) {
    return task -> {
      Thread thread = new Thread(task, name);
      thread.setDaemon(true);
      return thread;
    };
  }

  /**
   * Returns a timer with one thread. A cancelled task is removed at once. A task that is submitted
   * after the shutdown is silently dropped.
   */
  public static ScheduledExecutorService newTimer(String name) {
    ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(1, named(name), new ThreadPoolExecutor.DiscardPolicy());
    timer.setRemoveOnCancelPolicy(true);
    return timer;
  }
}
